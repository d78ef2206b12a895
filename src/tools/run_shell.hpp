// run_shell {cmd | argv, profile?, timeout_s?, stdin?}: one command, never a shell. `command` is taken for
// `cmd`, and the tool's other name is run_shell_command.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "model/call.hpp"

namespace cloche {

// The one name of a tool, aliases resolved; empty: there is no such tool.
std::string tool_name(std::string_view written);

// What a call means. Never fails: what cannot be understood is the intent's problem, and every gate refuses
// it.
Intent understand(const ToolCall& call);

// Its JSON Schema (2020-12), as models see it; both names of the command are known to it.
std::string_view run_shell_schema();

// For rules: the arguments as text in their one spelling, whichever was sent. `cmd` is the quoting of the
// argv.
std::map<std::string, std::string, std::less<>> normalised_arguments(const Intent& intent);

}  // namespace cloche
