// The change to an agent's settings file that sets the hook up, and its undoing, as texts. Both agents have
// the same shape: {"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", ...}]}]}}. The
// rest of the file stays byte for byte. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cloche {

// For the agent's shell. A program that is not there or crashes would be a yes to the agent: `|| exit 2`
// makes it a no, in every shell. Each flag is one word.
std::string hook_command_line(const std::string& cloche, const std::vector<std::string>& flags = {});

// Whether it is a line of hook_command_line() for this program, whatever its flags.
bool is_hook_line(std::string_view command, const std::string& cloche);

// What is left of settings in which nothing stands but the hook.
inline constexpr std::string_view empty_settings = "{}\n";

// Whether nothing stands in them: neither a member nor, where they are blank, an object.
bool is_blank(std::string_view settings);
bool is_empty_object(std::string_view settings);

// The settings with this line in them; a blank text is a file that is not there yet, or has nothing in it. An
// Error when the text is no JSON, has another shape, has a hook of this program already, or says that no hook
// is to run.
Result<std::string> with_hook(std::string_view settings, const std::string& cloche,
                              const std::string& command);

// Exactly what with_hook() was given, as long as what it put in is as it was; otherwise without the hooks of
// this program wherever they stand, and the rest byte for byte.
Result<std::string> without_hook(std::string_view settings, const std::string& cloche);

bool has_hook(std::string_view settings, const std::string& cloche);

}  // namespace cloche
