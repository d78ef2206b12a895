// The change to an agent's settings file that sets the hook up, and its undoing, as texts. Both agents have
// the same shape: {"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", ...}]}]}}. What
// somebody else wrote stays byte for byte. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cloche {

// For the agent's shell. A program that is not there or crashes would be a yes to the agent: `|| exit 2`
// makes it a no, in every shell.
std::string hook_command_line(const std::string& cloche);

// The settings with the hook in them; an empty text is a file that is not there yet. An Error when the text
// is no JSON, has another shape, or has the hook already.
Result<std::string> with_hook(std::string_view settings, const std::string& command);

// Exactly what with_hook() was given. An Error where it is not as it was put in.
Result<std::string> without_hook(std::string_view settings, const std::string& command);

bool has_hook(std::string_view settings, const std::string& command);

}  // namespace cloche
