// cloche: puts the caller's descriptors and signals in order and opens the door that the first word names.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "doors/agent_environment.hpp"
#include "doors/approve_command.hpp"
#include "doors/arguments.hpp"
#include "doors/call_command.hpp"
#include "doors/config_command.hpp"
#include "doors/explain_command.hpp"
#include "doors/help.hpp"
#include "doors/hook_command.hpp"
#include "doors/hook_front.hpp"
#include "doors/judged_run.hpp"
#include "doors/log_command.hpp"
#include "doors/mcp_command.hpp"
#include "doors/new_command.hpp"
#include "doors/print.hpp"
#include "doors/profiles_command.hpp"
#include "doors/run_command.hpp"
#include "doors/terminal_approver.hpp"
#include "doors/wrap_command.hpp"
#include "gateway/filed_approver.hpp"
#include "store/callers_home.hpp"
#include "store/config_paths.hpp"

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

// The operator at the terminal, or the one who answers filed questions.
class Operator {
 public:
  explicit Operator(const Environment& environment)
      : filed_({.state = state_of(environment), .inner = &terminal_}) {}
  Approver& approver() { return filed_; }

 private:
  // None: then the operator cannot be asked, and the approver says so.
  static std::string state_of(const Environment& environment) {
    const auto installation = find_installation(environment);
    return installation.ok() ? installation.value().state : "";
  }

  TerminalApprover terminal_;
  FiledApprover filed_;
};

bool must_be_judged(Words words, const Environment& environment) {
  const auto parsed = parse_run(words);
  if (!parsed.ok() || parsed.value().help) return false;
  const RunArguments& arguments = parsed.value();
  return arguments.dry_run || arguments.is_recorded() || !arguments.has_shipped_profile() ||
         arguments.leaves_a_choice() || arguments.request.network == Network::of_host ||
         !environment.get("CLOCHE_SANDBOX").empty() || !environment.get("CLOCHE_REQUIRE_SANDBOX").empty() ||
         may_be_configured(environment, arguments.request.workspace.value_or("."));
}

int open_run(Words words, const Environment& environment, const CallersDescriptors& callers) {
  if (!callers.output) return run_door(words, environment, callers);  // which refuses
  const auto judged = [&] {
    Operator asked(environment);
    return judged_run_door(words, environment, callers, asked.approver());
  };
  if (must_be_judged(words, environment)) return judged();
  // What this host cannot build here, another backend of the same rung may, or a rung that the operator
  // allows.
  return run_door(words, environment, callers, judged);
}

int open_call(Words words, const Environment& environment) {
  Operator asked(environment);
  return call_door(words, environment, asked.approver());
}

int open_new(Words words, const Environment&) { return new_door(words); }

struct Command {
  std::string_view name;
  int (*open)(Words words, const Environment& environment);
};
constexpr Command commands[] = {
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
                                   [&](const Command& one) { return one.name == command; });
  if (command.empty() || found == std::end(commands)) {
    complain(command.empty() ? "no command; see cloche --help"
                             : "unknown command '" + std::string(command) + "'; see cloche --help");
    return 2;
  }
  return found->open(words.subspan(2), with_home_from_database(Environment(environ)));
}
