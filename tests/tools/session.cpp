// tools_session CALLS FLAGS...: opens one Gateway by the flags of `cloche call`, makes each call in the file
// CALLS, a line "TOOL ARGS-JSON" each, and prints the JSON of `call --json` for it, a line each. What a long
// conversation of a model comes to, as a program that can be run as somebody else.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <span>
#include <string>

#include "doors/approve/terminal_approver.hpp"
#include "doors/cli/call_arguments.hpp"
#include "doors/library/call_json.hpp"

namespace {

int fail(const cloche::Error& error) {
  std::fprintf(stderr, "tools_session: %s\n", describe(error).c_str());
  return 125;
}

cloche::ToolCall call_in(const std::string& line) {
  const size_t blank = line.find(' ');
  return {line.substr(0, blank), line.substr(blank + 1)};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  auto arguments = cloche::parse_call(std::span<char* const>(argv + 2, static_cast<size_t>(argc - 2)),
                                      cloche::CallCommand::tools);
  if (!arguments.ok()) return fail(arguments.error());
  arguments.value().options.programs = CLOCHE_TEST_BIN_DIR;
  auto gateway = cloche::Gateway::open(arguments.value().options, cloche::Environment(environ));
  if (!gateway.ok()) return fail(gateway.error());
  const auto skill = cloche::skill_for(gateway.value()->session(), arguments.value().skill);
  if (!skill.ok()) return fail(skill.error());

  cloche::CallContext context{.task = arguments.value().task, .role = arguments.value().role};
  if (skill.value()) context.skill = &*skill.value();
  cloche::TerminalApprover approver;
  std::ifstream calls(argv[1]);
  for (std::string line; std::getline(calls, line);) {
    std::puts(call_json(gateway.value()->call(call_in(line), context, approver)).c_str());
    std::fflush(stdout);
  }
  return 0;
}
