// cloche: puts the caller's descriptors and signals in order and opens the door that the first word names.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "doors/approve/approve_command.hpp"
#include "doors/approve/terminal_approver.hpp"
#include "doors/call_command.hpp"
#include "doors/cli/config_command.hpp"
#include "doors/cli/explain_command.hpp"
#include "doors/cli/log_command.hpp"
#include "doors/cli/run_command.hpp"
#include "doors/cli/wrap_command.hpp"
#include "doors/help.hpp"
#include "doors/hook/agent_environment.hpp"
#include "doors/hook/hook_command.hpp"
#include "doors/hook/hook_front.hpp"
#include "doors/mcp_command.hpp"
#include "doors/new_command.hpp"
#include "doors/print.hpp"
#include "doors/profiles_command.hpp"
#include "gateway/approval/filed_approver.hpp"
#include "store/host/callers_home.hpp"

namespace {

using namespace cloche;

using Words = std::span<char* const>;

// A descriptor that is closed would be given to the next file we open, and the command's output could end up
// in it.
bool was_open(int fd) {
  if (::fcntl(fd, F_GETFD) >= 0) return true;
  (void)::open("/dev/null", O_RDWR);  // takes the lowest free number, which is this one
  return false;
}

// The operator at the terminal, or who answers filed questions. Most commands ask nothing: it is made when
// one does.
class Operator : public Approver {
 public:
  explicit Operator(const Environment& environment) : environment_(environment) {}
  Answer ask(const Question& question) override { return inner().ask(question); }
  bool can_ask() const override { return inner().can_ask(); }
  bool speaks_for_operator() const override { return inner().speaks_for_operator(); }

 private:
  FiledApprover& inner() const {
    if (!filed_) {
      const auto installation = find_installation(environment_);
      // No state: then questions cannot be filed, and the approver says so.
      filed_.emplace(FiledApproverOptions{.state = installation.ok() ? installation.value().state : "",
                                          .inner = &terminal_});
    }
    return *filed_;
  }

  const Environment& environment_;
  mutable TerminalApprover terminal_;
  mutable std::optional<FiledApprover> filed_;
};

int open_run(Words words, const Environment& environment, const CallersDescriptors& callers) {
  Operator asked(environment);
  return run_door(words, environment, callers, asked);
}

int open_call(Words words, const Environment& environment) {
  Operator asked(environment);
  return call_door(words, environment, asked);
}

int open_new(Words words, const Environment&) { return new_door(words); }

struct CommandRow {
  std::string_view name;
  int (*open)(Words words, const Environment& environment);
};
constexpr CommandRow commands[] = {
    {"call", open_call},     {"approve", approve_door}, {"hook", hook_door},     {judge_word, hook_door},
    {"tools", tools_door},   {"mcp", mcp_door},         {"doctor", doctor_door}, {"profiles", profiles_door},
    {"config", config_door}, {"explain", explain_door}, {"log", log_door},       {"test", test_door},
    {"wrap", wrap_door},     {"new", open_new},
};

}  // namespace

int main(int argc, char** argv) {
  CallersDescriptors callers;
  callers.input = was_open(0);
  callers.output = was_open(1);
  callers.errors = was_open(2);
  ::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is an ordinary end of output
  ::signal(SIGXFSZ, SIG_IGN);  // the caller's limit on files is an error of ours to report, not our end
  ::signal(SIGCHLD, SIG_DFL);  // a caller that ignores it would have the kernel forget how a child ended

  const Words words(argv, static_cast<size_t>(argc));
  const std::string_view command = words.size() < 2 ? "" : words[1];
  std::optional<AgentEnvironment> agents;
  if (is_agents_start(words)) environ = agents.emplace(environ, words).block();
  if (command == "hook" && is_hook_judgement(words.subspan(2))) {
    if (callers.output) return hook_front("/proc/self/exe", words, environ);
    complain("stdout is closed: the answer cannot be given, so the call is refused");
    return 2;
  }
  if (command == "run")
    return open_run(words.subspan(2), with_home_from_database(Environment(environ)), callers);
  // Every other command is there to print something. The number is taken by now, so only we can tell.
  if (!callers.output) {
    complain("stdout is closed: there is nowhere to print the result, so nothing is done");
    return 125;
  }
  if (command == "--version") {
    print("cloche " CLOCHE_VERSION "\n");
    return 0;
  }
  if (command == "--help" || command == "-h" || command == "help") {
    print(main_help());
    return 0;
  }
  const auto* found = std::find_if(std::begin(commands), std::end(commands),
                                   [&](const CommandRow& one) { return one.name == command; });
  if (command.empty() || found == std::end(commands)) {
    complain(command.empty() ? "no command; see cloche --help"
                             : "unknown command '" + std::string(command) + "'; see cloche --help");
    return 2;
  }
  return found->open(words.subspan(2), with_home_from_database(Environment(environ)));
}
