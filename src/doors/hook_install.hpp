// `cloche hook --install` and `--uninstall`: shows the change to the agent's settings file, asks, makes it.
#pragma once

#include "base/sys/environment.hpp"
#include "doors/hook/hook_command.hpp"

namespace cloche {

// The file of --settings, else the user's own of that agent.
Result<std::string> agent_settings_file(const HookArguments& arguments, const Environment& environment);

// The words that do `action` to the settings that these arguments mean, from any directory.
std::string hook_words(const std::string& action, const HookArguments& arguments);

int install_hook(const HookArguments& arguments, const Environment& environment);

}  // namespace cloche
