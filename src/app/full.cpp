// cloche-full: every command but a plain `run`, which the front keeps to itself because it must start in
// microseconds. The front has put the caller's descriptors in order before it comes here.
#include <signal.h>
#include <unistd.h>

#include <span>
#include <string_view>

#include "doors/agent_environment.hpp"
#include "doors/approve_command.hpp"
#include "doors/call_command.hpp"
#include "doors/config_command.hpp"
#include "doors/explain_command.hpp"
#include "doors/hook_command.hpp"
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

namespace {

// None: then the operator cannot be asked, and the approver says so.
std::string state_of(const cloche::Environment& environment) {
  const auto installation = cloche::find_installation(environment);
  return installation.ok() ? installation.value().state : "";
}

}  // namespace

int main(int argc, char** argv) {
  using namespace cloche;
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // a record that does not fit refuses the call; it does not end us
  const std::span<char* const> words(argv, static_cast<size_t>(argc));
  AgentEnvironment agents(environ, words);  // the front has done the same; a start without the front has not
  const Environment environment =
      with_home_from_database(Environment(is_agents_start(words) ? agents.block() : environ));
  const std::string_view command = words.size() < 2 ? "" : words[1];
  if (command == "run") {
    TerminalApprover terminal;
    FiledApprover approver({.state = state_of(environment), .inner = &terminal});
    return run_door(words.subspan(2), environment, {}, approver);
  }
  if (command == "call") {
    TerminalApprover terminal;
    FiledApprover approver({.state = state_of(environment), .inner = &terminal});
    return call_door(words.subspan(2), environment, approver);
  }
  if (command == "approve") return approve_door(words.subspan(2), environment);
  if (command == "hook") return hook_door(words.subspan(2), environment);
  if (command == "tools") return tools_door(words.subspan(2), environment);
  if (command == "mcp") return mcp_door(words.subspan(2), environment);
  if (command == "doctor") return doctor_door(words.subspan(2), environment);
  if (command == "profiles") return profiles_door(words.subspan(2), environment);
  if (command == "config") return config_door(words.subspan(2), environment);
  if (command == "explain") return explain_door(words.subspan(2), environment);
  if (command == "log") return log_door(words.subspan(2), environment);
  if (command == "test") return test_door(words.subspan(2), environment);
  if (command == "wrap") return wrap_door(words.subspan(2), environment);
  if (command == "new") return new_door(words.subspan(2));
  complain("unknown command '" + std::string(command) + "'; see cloche --help");
  return 2;
}
