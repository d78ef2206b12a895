// A program of somebody else: several threads call one gateway, an approver answers, a function is a tool,
// and nothing that the program does wrong ends it. Compiled with hidden visibility as C++17 and as C++20.
// Prints what is wrong; "ok" where nothing is.
#include <cloche/gateway.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <set>
#include <stdexcept>
#include <thread>

namespace {

std::atomic<int> wrong = 0;

void expect(bool holds, const char* what, const std::string& seen = {}) {
  if (holds) return;
  ++wrong;
  std::printf("wrong: %s: %s\n", what, seen.c_str());
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

std::string replaced(std::string text, const std::string& mark) {
  return text.replace(text.find("MARK"), 4, mark);
}

cloche::Call call_of(const char* tool, const std::string& arguments) {
  cloche::Call call;
  call.tool = tool;
  call.arguments = arguments;
  return call;
}

class Person : public cloche::Approver {
 public:
  cloche::Answer ask(const cloche::Question& question) override {
    ++asked;
    expect(question.digest.rfind("sha256:", 0) == 0, "a question has a digest", question.digest);
    if (throws) throw std::runtime_error("the dialog is gone");
    return answer;
  }
  std::atomic<int> asked = 0;
  cloche::Answer answer = cloche::Answer::no;
  bool throws = false;
};

void try_values() {
  cloche::Options options;
  options.autonomy = "wild";
  const auto refused = cloche::Gateway::open(options);
  expect(!refused.ok() && refused.error().kind == cloche::Error::Kind::usage, "a wrong level is an error");
  if (!refused.ok()) {
    const cloche::CallResult result = cloche::not_made(refused.error(), true);
    expect(result.exit_code == 2 && has(result.json, "\"outcome\":\"failed\""), "it has a result",
           result.json);
  }
  options = {};
  options.workspace = "/proc";
  expect(!cloche::Gateway::open(options).ok(), "/proc is no workspace");
  options = {};
  options.programs = "/nowhere";
  auto without = cloche::Gateway::open(options);
  if (without.ok()) {
    const auto result = without.value().call(call_of("run_shell", R"({"cmd": "ls"})"));
    expect(result.end == cloche::CallResult::End::failed, "without cloche-jail nothing starts", result.text);
  }
  ::signal(SIGCHLD, SIG_IGN);
  const auto ignored = cloche::Gateway::open({});
  expect(!ignored.ok() && has(ignored.error().what, "SIGCHLD"), "ignored children are refused");
  ::signal(SIGCHLD, SIG_DFL);
}

void try_threads(cloche::Gateway& gateway) {
  std::set<std::string> ids;
  std::vector<std::string> seen[4];
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&gateway, &own = seen[number], number] {
      // A thread of a program that has all signals elsewhere.
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_BLOCK, &all, nullptr);
      for (int i = 0; i < 3; ++i) {
        const std::string mark = std::to_string(number) + "-" + std::to_string(i);
        const std::string code = R"json({"code": "print('mark' + 'MARK')"})json";
        const auto result = gateway.call(call_of("run_python", replaced(code, mark)));
        expect(has(result.text, ("mark" + mark).c_str()), "a thread gets its own answer", result.text);
        own.push_back(result.call_id);
        const std::string content = R"({"path": "fMARK", "content": "x"})";
        const auto file = gateway.call(call_of("write_artifact", replaced(content, mark)));
        expect(!file.is_error() && file.changes.is_whole, "a thread writes", file.text);
        own.push_back(file.call_id);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& own : seen) ids.insert(own.begin(), own.end());
  expect(ids.size() == 24, "each call has an id of its own", std::to_string(ids.size()));
}

void try_calls(cloche::Gateway& gateway) {
  // More than a pipe holds, to a command that does not read it: SIGPIPE is not the program's.
  const std::string much(400'000, 'x');
  const auto unread = gateway.call(call_of("run_shell", R"({"cmd": "ls", "stdin": ")" + much + "\"}"));
  expect(unread.exit_code == 0, "a command need not read its input", unread.text);
  const auto refused = gateway.call(call_of("run_shell", R"({"cmd": "cat ../../etc/passwd"})"));
  expect(refused.end == cloche::CallResult::End::refused && refused.exit_code == 126 && refused.is_error() &&
             refused.json.empty() && std::string(name_of(refused.end)) == "refused",
         "a refusal is a result", refused.text);
  const auto broken = gateway.call(call_of("run_shell", "no JSON"));
  expect(has(broken.text, "refused by schema"), "arguments that are no JSON", broken.text);
  cloche::Call zero = call_of("run_shell", R"({"cmd": "ls"})");
  zero.task = std::string("a\0/../b", 7);
  expect(gateway.call(zero).is_error(), "a task of a path");
  cloche::Call with_json = call_of("read_artifact", R"({"path": "f0-0"})");
  with_json.json = true;
  expect(has(gateway.call(with_json).json, "\"outcome\":\"exited\""), "the JSON of a call");
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  (void)!::write(ends[1], "x", 1);
  cloche::Call cancelled = call_of("run_python", R"({"code": "while True: pass"})");
  cancelled.cancel = ends[0];
  expect(gateway.call(cancelled).end == cloche::CallResult::End::signaled, "a call is cancelled");
  const auto tools = gateway.tools(cloche::ToolsFormat::openai);
  expect(tools.ok() && has(tools.value(), R"("name":"twice")"), "the tools, with the program's own");
  const auto twice = gateway.call(call_of("twice", R"({"n": 21})"));
  expect(has(twice.text, "42"), "a function of the program", twice.text);
  expect(gateway.call(call_of("thrower", "{}")).is_error(), "a function that throws");
}

void try_approver(cloche::Gateway& gateway) {
  const auto code = call_of("list_artifacts", "{}");  // which the configuration asks about
  expect(gateway.call(code).end == cloche::CallResult::End::refused, "without an approver it is a no");
  Person person;
  expect(gateway.call(code, &person).end == cloche::CallResult::End::refused, "a no of the approver");
  person.throws = true;
  expect(gateway.call(code, &person).end == cloche::CallResult::End::refused, "an approver that throws");
  person.throws = false;
  person.answer = cloche::Answer::once;
  const auto done = gateway.call(code, &person);
  expect(!done.is_error(), "a yes of the approver", done.text);
  expect(person.asked == 3, "it is asked each time");
}

void try_dials(cloche::Gateway& gateway) {
  expect(gateway.set_autonomy("wild").has_value(), "there is no such level");
  expect(!gateway.set_autonomy("readonly").has_value(), "the autonomy is set");
  const auto write = call_of("write_artifact", R"({"path": "late", "content": "x"})");
  expect(gateway.call(write).is_error(), "readonly writes nothing");
  expect(!gateway.set_autonomy("supervised").has_value(), "and back");
  expect(!gateway.call(write).is_error(), "it writes again");
  cloche::Gateway moved = std::move(gateway);
  expect(gateway.call(write).end == cloche::CallResult::End::failed,
         "a gateway that was moved makes no call");
  expect(!gateway.tools(cloche::ToolsFormat::mcp).ok() && gateway.workspace().empty(), "and has no tools");
  gateway.end_tasks();
  expect(!moved.call(write).is_error(), "the other one does");
  gateway = std::move(moved);
  expect(!gateway.call(write).is_error(), "and back again");
}

}  // namespace

int main() {
  try_values();
  cloche::Function twice;
  twice.name = "twice";
  twice.description = "Doubles a number.";
  twice.input_schema = R"({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})";
  twice.run = [](const std::string&) { return std::string("42"); };
  cloche::Function thrower;
  thrower.name = "thrower";
  thrower.description = "Throws.";
  thrower.input_schema = R"({"type": "object"})";
  thrower.run = [](const std::string&) -> std::string { throw std::runtime_error("boom"); };
  cloche::Options options;
  options.run = "run";
  options.functions = {twice, thrower};
  options.limits = {{"timeout", "20s"}, {"memory", "256M"}};
  auto gateway = cloche::Gateway::open(options);
  if (!gateway.ok()) {
    std::printf("%s\n", gateway.error().what.c_str());
    return 1;
  }
  expect(gateway.value().works_in_run(), "it works in the artifacts of the run", gateway.value().workspace());
  try_threads(gateway.value());
  try_calls(gateway.value());
  try_approver(gateway.value());
  try_dials(gateway.value());
  if (wrong == 0) std::puts("ok");
  return wrong == 0 ? 0 : 1;
}
