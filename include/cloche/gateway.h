// Cloche as a library: put it between a model and the machine.
//
//     auto gateway = cloche::Gateway::open({});
//     if (!gateway.ok()) return complain(gateway.error().what);
//     cloche::Call call;
//     call.tool = "run_shell";
//     call.arguments = R"({"cmd": "ls"})";
//     send_to_model(gateway.value().call(call).text);
//
// A Gateway may be used from any number of threads; moving and destroying it is for one of them alone, when
// no call runs. Nothing here throws, ends the process, or prints.
//
// Calls start processes, and wait for each of them: a program that has opened a gateway neither ignores
// SIGCHLD nor waits for children that it did not start (waitpid(-1, ...)). Every other signal and its
// handler are the program's own. A process that fork() has made does not use its parent's gateway.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <cloche/approver.h>
#include <cloche/values.h>
#include <cloche/version.h>

namespace cloche {
namespace v1 {

enum class ToolsFormat { mcp, openai, anthropic };

class Gateway {
 public:
  // Reads the configuration and opens the record; nothing of that is looked at again.
  static Result<Gateway> open(const Options& options) noexcept;
  Gateway(Gateway&& other) noexcept;
  Gateway& operator=(Gateway&& other) noexcept;
  ~Gateway();

  // Never fails: whatever happens is a result that a model can be given. `approver` is asked in place of the
  // terminal that the options may name; what only the operator may answer is asked as the options say.
  CallResult call(const Call& call, Approver* approver = nullptr) noexcept;

  // The tools that a model may call, as JSON exactly as that API expects it: of MCP the result of tools/list,
  // of the others the value of `tools` in a request.
  Result<std::string> tools(ToolsFormat format) const noexcept;

  // Between calls, by any thread: a call that has begun keeps what it began with. Never beyond what the
  // host's configuration says. Nothing: it is done.
  std::optional<Error> set_autonomy(const std::string& level) noexcept;
  std::optional<Error> set_default_profile(const std::string& name) noexcept;
  std::optional<Error> set_enabled(bool enabled) noexcept;

  // The private $HOME and /tmp of its tasks end here.
  void end_tasks() noexcept;

  // Where calls work, and whether that is the artifacts/ of Options::run.
  std::string workspace() const noexcept;
  bool works_in_run() const noexcept;

 private:
  struct Inside;
  explicit Gateway(std::unique_ptr<Inside> inside) noexcept;
  std::unique_ptr<Inside> inside_;
};

// What a call comes to whose gateway could not be opened, for a model that waits for an answer.
CallResult not_made(const Error& error, bool json = false) noexcept;

}  // namespace v1
}  // namespace cloche
