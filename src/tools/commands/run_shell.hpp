// run_shell {cmd | argv, profile?, timeout_s?, stdin?}: one command, never a shell. `command` is taken for
// `cmd`, and the tool's other name is run_shell_command.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/json/json_text.hpp"
#include "model/call.hpp"
#include "model/tool.hpp"

namespace cloche {

// The one name of a tool, aliases resolved; empty: there is no such tool.
std::string tool_name(std::string_view written);

ToolSpec run_shell_spec();
// What calls are checked against: also that the command is given once. To models this is not said, because
// their APIs refuse a oneOf at the top.
std::string strict_shell_schema();
void understand_shell(const JsonValue& arguments, Intent& intent);

// Whether it is a command or a script, which starts in a directory of the workspace.
bool starts_somewhere(const Intent& intent);

// For rules: the arguments as text in their one spelling, whichever was sent. `cmd` is the quoting of the
// argv. What holds counts, also where the call leaves it out: `cwd` and, where it is known, `profile`.
std::map<std::string, std::string, std::less<>> normalised_arguments(const Intent& intent);

}  // namespace cloche
