// The front: puts the caller's descriptors in order, runs, and executes cloche-full for every other command.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <span>
#include <string_view>

#include "base/path.hpp"
#include "base/sys.hpp"
#include "doors/agent_environment.hpp"
#include "doors/arguments.hpp"
#include "doors/help.hpp"
#include "doors/hook_front.hpp"
#include "doors/print.hpp"
#include "doors/run_command.hpp"
#include "store/callers_home.hpp"
#include "store/config_paths.hpp"

namespace {

using namespace cloche;

// A descriptor that is closed would be given to the next file we open, and the command's output could end up
// in it.
bool was_open(int fd) {
  if (::fcntl(fd, F_GETFD) >= 0) return true;
  (void)::open("/dev/null", O_RDWR);  // takes the lowest free number, which is this one
  return false;
}

std::string path_of_full() {
  const auto own = sys::read_link("/proc/self/exe");
  return std::string(own.ok() ? parent_of(own.value()) : "") + "/cloche-full";
}

// The other commands need more libraries than fit into a start of microseconds.
int hand_over(char** argv, char** environment) {
  const std::string full = path_of_full();
  ::execve(full.c_str(), argv, environment);
  complain(describe(system_error("execute " + full)) + "; it belongs beside cloche: build or install both");
  return 125;
}

// Rules, and whoever wants to see the gates' answers, need cloche-full; and what is off is said and recorded
// there.
bool must_be_judged(std::span<char* const> words, const Environment& environment) {
  const auto parsed = parse_run(words);
  if (!parsed.ok() || parsed.value().help) return false;
  const RunArguments& arguments = parsed.value();
  return arguments.dry_run || arguments.is_recorded() || !arguments.has_shipped_profile() ||
         arguments.leaves_a_choice() || arguments.request.network == Network::of_host ||
         !environment.get("CLOCHE_SANDBOX").empty() || !environment.get("CLOCHE_REQUIRE_SANDBOX").empty() ||
         may_be_configured(environment, arguments.request.workspace.value_or("."));
}

}  // namespace

int main(int argc, char** argv) {
  CallersDescriptors callers;
  callers.input = was_open(0);
  callers.output = was_open(1);
  callers.errors = was_open(2);

  const std::span<char* const> words(argv, static_cast<size_t>(argc));
  const std::string_view command = words.size() < 2 ? "" : words[1];
  if (command == "run" && callers.output && is_agents_start(words))
    return hand_over(argv, AgentEnvironment(environ, words).block());
  if (command == "run") {
    ::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is an ordinary end of output
    ::signal(SIGXFSZ, SIG_IGN);  // the caller's limit on files is an error of ours to report, not our end
    ::signal(SIGCHLD, SIG_DFL);  // a caller that ignores it would have the kernel forget how the jail ended
    const Environment environment = with_home_from_database(Environment(environ));
    // Without a stdout nothing will run anyway, and only we know that.
    if (callers.output && must_be_judged(words.subspan(2), environment)) return hand_over(argv, environ);
    // What this host cannot build here, another backend of the same rung may, or a rung that the operator
    // allows.
    return run_door(words.subspan(2), environment, callers, [&] { return hand_over(argv, environ); });
  }
  if (command == "hook" && is_hook_judgement(words.subspan(2))) {
    if (callers.output) return hook_front(path_of_full(), words, AgentEnvironment(environ, words).block());
    complain("stdout is closed and nobody could hear the answer, so the call is refused");
    return 2;
  }
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
  if (command.empty()) {
    complain("no command; see cloche --help");
    return 2;
  }
  if (is_agents_start(words)) return hand_over(argv, AgentEnvironment(environ, words).block());
  return hand_over(argv, environ);
}
