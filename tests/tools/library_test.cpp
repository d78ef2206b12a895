// The gateway beneath the library: one for many threads; and a whole agent loop.
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "base/sys/sys.hpp"
#include "doors/approve/terminal_approver.hpp"
#include "gateway/gateway.hpp"
#include "store/commit/change_sets.hpp"
#include "tools/fixture.hpp"

namespace cloche::test {
namespace {

class Nobody : public Approver {
 public:
  ::cloche::Answer ask(const Question&) override { return {}; }
};

size_t open_descriptors() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

// A Gateway in a scene of its own, without a record.
struct Opened {
  Scene scene{As::self};
  std::string state = "XDG_STATE_HOME=" + state_home(As::self);
  std::string home = "HOME=" + (scene.root() / "home").string();
  std::string path = "PATH=/usr/bin:/bin";
  char* block[4] = {state.data(), home.data(), path.data(), nullptr};  // the Gateway goes on looking at it
  std::unique_ptr<Gateway> gateway;

  explicit Opened(std::vector<Function> functions = {}, const std::string& configuration = "{}") {
    scene.write("home/.config/cloche/config.json", configuration);
    SessionOptions options = default_session();
    options.functions = std::move(functions);
    options.operators.workspace = scene.workspace();
    options.programs.folder = CLOCHE_TEST_BIN_DIR;
    options.record = Registry::Record::none;
    auto opened = Gateway::open(options, Environment(block));
    EXPECT_TRUE(opened.ok()) << describe(opened.error());
    if (opened.ok()) gateway = std::move(opened).value();
  }
  CallResult write() {
    Nobody nobody;
    return gateway->call({"write_artifact", R"({"path": "x", "content": "y"})"}, {}, nobody);
  }
};

TEST(Library, DialsTurnBetweenCalls) {
  Opened opened;
  ASSERT_TRUE(opened.gateway);
  EXPECT_FALSE(opened.write().is_error());
  ASSERT_TRUE(opened.gateway->set_autonomy(Autonomy::readonly).ok());
  EXPECT_TRUE(contains(opened.write().result, "autonomy readonly writes nothing"));
  ASSERT_TRUE(opened.gateway->set_autonomy(Autonomy::full).ok());
  EXPECT_FALSE(opened.write().is_error());
  ASSERT_TRUE(opened.gateway->set_default_profile("readonly").ok());
  EXPECT_TRUE(contains(opened.write().result, "the sandbox profile writes nothing"));
  EXPECT_FALSE(opened.gateway->set_default_profile("nobodys").ok());
  ASSERT_TRUE(opened.gateway->set_default_profile("workspace-write-no-network").ok());
  EXPECT_FALSE(opened.write().is_error());
  ASSERT_TRUE(opened.gateway->set_enabled(false).ok());
  Nobody nobody;
  const CallResult told = opened.gateway->call({"run_shell", R"({"cmd": "cat x"})"}, {}, nobody);
  EXPECT_EQ(name_of(told.outcome.backend), "none");
  ASSERT_EQ(told.notes.size(), 1U);
  EXPECT_TRUE(contains(told.notes[0], "isolation is off"));
}

Function function_named(std::string name, std::function<Result<std::string>(const std::string&)> run) {
  Function function;
  function.spec.name = std::move(name);
  function.spec.description = "for this test";
  function.spec.input_schema =
      R"({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})";
  function.spec.output_schema = R"({"type": "object", "properties": {"twice": {"type": "integer"}}})";
  function.run = std::move(run);
  return function;
}

// The isolation level permissive: judged and held to its schemas like any tool, in this process.
TEST(Library, FunctionsOfTheEmbeddingProgramAreTools) {
  std::atomic<int> ran = 0;
  Opened opened({function_named("twice",
                                [&](const std::string& arguments) -> Result<std::string> {
                                  ++ran;
                                  return std::string(contains(arguments, "21") ? R"({"twice": 42})"
                                                                               : R"({"twice": "no"})");
                                }),
                 function_named("thrower", [](const std::string&) -> Result<std::string> {
                   throw std::runtime_error("boom");
                 })});
  ASSERT_TRUE(opened.gateway);
  Nobody nobody;
  const CallResult good = opened.gateway->call({"twice", R"({"n": 21})"}, {}, nobody);
  EXPECT_FALSE(good.is_error()) << good.result;
  EXPECT_EQ(good.structured, R"({"twice": 42})");
  EXPECT_EQ(name_of(good.outcome.backend), "in-process");
  EXPECT_TRUE(opened.gateway->call({"twice", R"({"n": "x"})"}, {}, nobody).is_error())
      << "refused by its schema";
  EXPECT_EQ(ran, 1) << "what is refused does not run";
  EXPECT_TRUE(contains(opened.gateway->call({"twice", R"({"n": 1})"}, {}, nobody).result, "twice"))
      << "its answer is no answer";
  EXPECT_TRUE(contains(opened.gateway->call({"thrower", R"({"n": 1})"}, {}, nobody).result, "boom"));
  const auto tools = opened.gateway->tools(nullptr);
  ASSERT_TRUE(tools.ok());
  EXPECT_TRUE(std::any_of(tools.value().begin(), tools.value().end(),
                          [](const ToolSpec& spec) { return spec.name == "twice"; }));
  const Skill narrow{.name = "narrow", .loadout = std::vector<std::string>{"read_artifact"}};
  CallContext context;
  context.skill = &narrow;
  EXPECT_TRUE(contains(opened.gateway->call({"twice", R"({"n": 21})"}, context, nobody).result, "loadout"));
}

// With one place: who waits is told when it is cancelled, and who finds no room hears that it is busy.
TEST(Library, CallsWaitForAPlaceOrAreToldThatItIsBusy) {
  std::atomic<int> begun = 0;
  std::atomic<bool> go = false;
  Opened opened({function_named("slow",
                                [&](const std::string&) -> Result<std::string> {
                                  ++begun;
                                  while (!go) ::usleep(1000);
                                  return std::string(R"({"twice": 2})");
                                })},
                R"({"calls": {"at_once": 1, "waiting": 1}})");
  ASSERT_TRUE(opened.gateway);
  const ToolCall slow{"slow", R"({"n": 1})"};
  const auto call = [&](int stop) {
    Nobody nobody;
    return opened.gateway->call(slow, {.tenant = "a", .stop = stop}, nobody);
  };
  std::thread first([&] { EXPECT_FALSE(call(-1).is_error()); });
  while (begun == 0) ::usleep(1000);
  const OwnedFd stop(::eventfd(0, EFD_CLOEXEC));
  CallResult cancelled;
  std::thread second([&] { cancelled = call(stop.get()); });
  CallResult busy;
  do {  // until the second one waits: this one leaves the queue at once
    const OwnedFd stopped(::eventfd(1, EFD_CLOEXEC));
    busy = call(stopped.get());
  } while (busy.outcome.end != End::refused);
  EXPECT_TRUE(busy.result.starts_with("busy: too many calls")) << busy.result;
  EXPECT_TRUE(contains(busy.result, "try again")) << busy.result;
  const uint64_t one = 1;
  ASSERT_EQ(::write(stop.get(), &one, sizeof one), 8);
  second.join();
  EXPECT_TRUE(contains(cancelled.result, "cancelled by the caller before it began")) << cancelled.result;
  go = true;
  first.join();
  EXPECT_EQ(begun, 1);
  EXPECT_FALSE(call(-1).is_error()) << "the place is free again";
}

TEST(Library, AFunctionThatCallsAgainNeedsNoSecondPlace) {
  Gateway* gateway = nullptr;
  Opened opened({function_named("outer",
                                [&](const std::string&) -> Result<std::string> {
                                  Nobody nobody;
                                  const auto inner = gateway->call({"list_artifacts", "{}"}, {}, nobody);
                                  return std::string(inner.is_error() ? "{}" : R"({"twice": 2})");
                                })},
                R"({"calls": {"at_once": 1, "waiting": 1}})");
  ASSERT_TRUE(opened.gateway);
  gateway = opened.gateway.get();
  Nobody nobody;
  EXPECT_EQ(gateway->call({"outer", R"({"n": 1})"}, {}, nobody).structured, R"({"twice": 2})");
}

TEST(Library, OfManyAtOnceEachIsAnsweredOrBusyAndNothingLeaks) {
  Opened opened({}, R"({"calls": {"at_once": 4, "waiting": 20}})");
  ASSERT_TRUE(opened.gateway);
  Nobody nobody;
  const ToolCall run{"run_shell", R"({"cmd": "ls"})"};
  const CallResult first = opened.gateway->call(run, {}, nobody);
  ASSERT_FALSE(first.is_error()) << first.result;
  const size_t before = open_descriptors();
  std::atomic<int> done = 0;
  std::atomic<int> busy = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 128; ++i) {
    callers.emplace_back([&, i] {
      Nobody none;
      const auto result = opened.gateway->call(run, {.tenant = i % 2 == 0 ? "a" : "b"}, none);
      done += result.is_error() ? 0 : 1;
      busy += result.result.starts_with("busy: ") ? 1 : 0;
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(done + busy, 128);
  EXPECT_GE(done, 44);
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Library, DialsTurnWhileOthersCall) {
  Opened opened;
  ASSERT_TRUE(opened.gateway);
  std::atomic<int> odd = 0;
  std::vector<std::thread> callers;
  callers.reserve(4);
  for (int thread = 0; thread < 4; ++thread) {
    callers.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const CallResult result = opened.write();
        const bool refused = contains(result.result, "autonomy readonly writes nothing");
        if (result.is_error() && !refused) ++odd;
      }
    });
  }
  for (int i = 0; i < 500; ++i)
    EXPECT_TRUE(opened.gateway->set_autonomy(i % 2 == 0 ? Autonomy::readonly : Autonomy::full).ok());
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(odd, 0);
}

TEST(Library, ManyThreadsShareOneGateway) {
  Scene scene{As::self};
  SessionOptions options = default_session();
  options.run = scene.root() / "run";
  options.programs.folder = CLOCHE_TEST_BIN_DIR;
  const std::string state = "XDG_STATE_HOME=" + state_home(As::self);
  const std::string home = "HOME=" + (scene.root() / "home").string();
  std::string path = "PATH=/usr/bin:/bin";
  std::vector<char*> block = {const_cast<char*>(state.c_str()), const_cast<char*>(home.c_str()), path.data(),
                              nullptr};
  auto gateway = Gateway::open(options, Environment(block.data()));
  ASSERT_TRUE(gateway.ok()) << describe(gateway.error());

  constexpr int threads = 16;
  constexpr int calls = 20;
  Nobody nobody;
  // The transcripts that stay open are open before it begins.
  for (int task = 0; task < 4; ++task)
    gateway.value()->call({"run_shell", R"({"cmd": "ls"})"}, {.task = "task-" + std::to_string(task)},
                          nobody);
  const size_t before = open_descriptors();
  std::mutex lock;
  std::set<std::string> ids;
  std::vector<std::string> wrong;
  const auto work = [&](int thread) {
    const std::string task = "task-" + std::to_string(thread % 4);
    for (int i = 0; i < calls; ++i) {
      const std::string mark = std::to_string(thread) + "-" + std::to_string(i);
      // Every fifth one starts a process; each of the others acts in this one.
      const bool starts = i % 5 == 0;
      const ToolCall asked =
          starts ? ToolCall{"run_shell", R"({"argv": ["cat", "mark-)" + std::to_string(thread) + R"("]})"}
                 : ToolCall{"write_artifact", R"({"path": "mark-)" + std::to_string(thread) +
                                                  R"(", "content": ")" + mark + R"("})"};
      const std::string expected = starts ? "exit_code: 0\nstdout: " + std::to_string(thread) + "-" +
                                                std::to_string(i - 1) + "\nstderr: "
                                          : "wrote mark-" + std::to_string(thread);
      const CallResult result =
          gateway.value()->call(i == 0 ? ToolCall{"list_artifacts", "{}"} : asked, {.task = task}, nobody);
      const std::lock_guard<std::mutex> held(lock);
      ids.insert(result.call_id);
      if (result.is_error() || (i != 0 && !result.result.starts_with(expected)))
        wrong.push_back(mark + ": " + result.result);
    }
  };
  std::vector<std::thread> pool;
  for (int thread = 0; thread < threads; ++thread) pool.emplace_back(work, thread);
  for (auto& thread : pool) thread.join();

  EXPECT_EQ(ids.size(), size_t{threads * calls});
  EXPECT_TRUE(wrong.empty()) << wrong.size() << " wrong, the first: " << wrong[0];
  EXPECT_EQ(open_descriptors(), before);
  gateway.value()->end_tasks();
  EXPECT_FALSE(fs::exists(scene.root() / "run/tasks"));
  const Ran verify =
      run({.argv = {cloche(), "log", "verify", scene.root() / "run"},
           .env = {{"XDG_STATE_HOME", state_home(As::self)}, {"HOME", scene.root() / "home"}}});
  EXPECT_TRUE(verify.out.starts_with("ok: ")) << verify.out << verify.err;
}

class Broken : public Approver {
 public:
  ::cloche::Answer ask(const Question&) override { throw std::runtime_error("the dialog is gone"); }
};

TEST(Library, AnApproverThatThrowsSaysNoAndIsInTheRecord) {
  Scene scene{As::self};
  scene.write(
      "home/.config/cloche/config.json",
      R"({"permissions": {"default": "allow", "rules": [{"tool": "list_artifacts", "action": "ask", "reason": "look first"}]}})");
  SessionOptions options = default_session();
  options.run = scene.root() / "run";
  options.programs.folder = CLOCHE_TEST_BIN_DIR;
  const std::string state = "XDG_STATE_HOME=" + state_home(As::self);
  const std::string home = "HOME=" + (scene.root() / "home").string();
  std::vector<char*> block = {const_cast<char*>(state.c_str()), const_cast<char*>(home.c_str()), nullptr};
  auto gateway = Gateway::open(options, Environment(block.data()));
  ASSERT_TRUE(gateway.ok()) << describe(gateway.error());
  Broken broken;
  const CallResult result = gateway.value()->call({"list_artifacts", "{}"}, {.task = "T"}, broken);
  EXPECT_EQ(result.outcome.end, End::refused) << result.result;
  EXPECT_TRUE(contains(result.result, "failed instead of answering")) << result.result;
  const auto lines = json_lines(scene.root() / "run/artifacts/tool_calls/T.jsonl");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["outcome"].string, "refused");
}

// Says yes to the second question about what a call did, and throws at the third.
class Afterwards : public Approver {
 public:
  ::cloche::Answer ask(const Question&) override { return {}; }
  std::optional<::cloche::Answer> ask_afterwards(const Question& question) override {
    heard.push_back(question.text);
    if (heard.size() > 2) throw std::runtime_error("the dialog is gone");
    return make_answer(question, heard.size() == 2 ? Reply::once : Reply::no, sys::monotonic_ms());
  }
  std::vector<std::string> heard = {};
};

TEST(Library, WhatARuleAsksAboutIsAskedWhenTheCallHasEnded) {
  Scene scene{As::self};
  scene.write("home/.config/cloche/config.json",
              R"({"changes": [{"kinds": ["deleted"], "action": "ask"}], "commands": "any"})");
  SessionOptions options = default_session();
  options.run = scene.root() / "run";
  options.programs.folder = CLOCHE_TEST_BIN_DIR;
  const std::string state = "XDG_STATE_HOME=" + state_home(As::self);
  const std::string home = "HOME=" + (scene.root() / "home").string();
  std::vector<char*> block = {const_cast<char*>(state.c_str()), const_cast<char*>(home.c_str()), nullptr};
  auto gateway = Gateway::open(options, Environment(block.data()));
  ASSERT_TRUE(gateway.ok()) << describe(gateway.error());
  const fs::path artifacts = scene.root() / "run/artifacts";
  Afterwards approver;
  for (const bool goes : {false, true, false}) {
    std::ofstream(artifacts / "old\n") << "x";
    const CallResult result = gateway.value()->call(
        {"run_script", R"({"interpreter": "bash", "code": "rm -f old*; echo n > new"})"}, {}, approver);
    EXPECT_EQ(result.outcome.exit_code, 0) << result.result;
    EXPECT_EQ(fs::exists(artifacts / "old\n"), !goes) << result.result;
    EXPECT_EQ(fs::exists(artifacts / "new"), goes) << result.result;
    EXPECT_EQ(contains(result.result, "not in the project"), !goes) << result.result;
    fs::remove(artifacts / "new");
  }
  ASSERT_EQ(approver.heard.size(), 3U);
  EXPECT_TRUE(contains(approver.heard[0], "deleted old\\n\n")) << approver.heard[0];
}

// Looks, while it is asked, at whose what is staged is.
class Onlooker : public Approver {
 public:
  explicit Onlooker(std::string state) : state_(std::move(state)) {}
  ::cloche::Answer ask(const Question&) override { return {}; }
  std::optional<::cloche::Answer> ask_afterwards(const Question&) override {
    for (const SetHeader& set : ChangeSets(state_, boot_id()).list()) tasks.push_back(set.task);
    return std::nullopt;
  }
  std::vector<std::string> tasks = {};

 private:
  std::string state_;
};

TEST(Library, WhatIsAskedAboutIsOfNoTaskBeforeTheAnswer) {
  Scene scene{As::self};
  scene.write("home/.config/cloche/config.json",
              R"({"changes": [{"kinds": ["deleted"], "action": "ask"}], "commands": "any"})");
  scene.write("state/.keep", "", 0600);
  fs::permissions(scene.root() / "state", fs::perms::owner_all);
  SessionOptions options = default_session();
  options.run = scene.root() / "run";
  options.programs.folder = CLOCHE_TEST_BIN_DIR;
  const std::string state = "XDG_STATE_HOME=" + (scene.root() / "state").string();
  const std::string home = "HOME=" + (scene.root() / "home").string();
  std::vector<char*> block = {const_cast<char*>(state.c_str()), const_cast<char*>(home.c_str()), nullptr};
  auto gateway = Gateway::open(options, Environment(block.data()));
  ASSERT_TRUE(gateway.ok()) << describe(gateway.error());
  std::ofstream(scene.root() / "run/artifacts/old") << "x";
  Onlooker approver(scene.root() / "state/cloche");
  const auto call = [&](const std::string& code) {
    return gateway.value()
        ->call({"run_script", R"({"interpreter": "bash", "code": ")" + code + R"("})"}, {.task = "T"},
               approver)
        .result;
  };
  call("rm old; echo n > new");
  EXPECT_EQ(approver.tasks, std::vector<std::string>{""});
  const auto waiting = ChangeSets(scene.root() / "state/cloche", boot_id()).list();
  ASSERT_EQ(waiting.size(), 1U);
  EXPECT_NE(waiting[0].task, "");
  EXPECT_TRUE(contains(call("cat new; ls"), "stdout: n\n"));
  EXPECT_TRUE(fs::exists(scene.root() / "run/artifacts/old"));
}

class Loop : public Tools {};

TEST_P(Loop, TheAgentLoopSurvivesEveryCallAndEndsOnItsBudget) {
  Command command = words({});
  command.argv = {built("agent_loop"), scene_root() / "run"};
  const Ran ran = run(command);
  EXPECT_TRUE(exited(ran, 0));
  EXPECT_TRUE(contains(ran.out, "the step budget of 13 is used up")) << ran.out;
  const char* ends[] = {
      " 1 write_artifact  exited",  " 2 run_shell       exited",  " 3 run_python      exited",
      " 4 run_shell       refused", " 5 run_shell       refused", " 6 write_artifact  refused",
      " 7 run_python      exited",  " 8 run_python      limit",   " 9 run_python      limit",
      "10 run_python      exited",  "11 http_get        refused", "12 no_such_tool    refused",
      "13 run_shell       refused"};
  for (const char* end : ends) EXPECT_TRUE(contains(ran.out, end)) << end << "\n" << ran.out;
  EXPECT_TRUE(verified(scene_root() / "run"));
}

FOR_EVERYONE(Loop);

}  // namespace
}  // namespace cloche::test
