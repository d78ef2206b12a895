// The hook in an agent's settings: `cloche hook --install`, `--uninstall` and `--check`.
#pragma once

#include "base/sys/environment.hpp"
#include "doors/hook/hook_command.hpp"

namespace cloche {

// The file of --settings, else the user's own of that agent.
Result<std::string> agent_settings_file(const HookArguments& arguments, const Environment& environment);

// The words that do `action` to the settings that these arguments mean, from any directory.
std::string hook_words(const std::string& action, const HookArguments& arguments);

// --install and --uninstall: shows the change to the agent's settings file, asks, makes it.
int install_hook(const HookArguments& arguments, const Environment& environment);

// --check: whether the agent really asks the hook. An agent silently ignores a hook that it does not trust;
// then only the agent's own sandbox confines it, and that must stay on. 0: a call has arrived since the
// settings were last changed. 1: none has.
int check_hook(const HookArguments& arguments, const Environment& environment);

}  // namespace cloche
