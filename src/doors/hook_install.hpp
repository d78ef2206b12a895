// `cloche hook --install` and `--uninstall`: shows the change to the agent's settings file, asks, makes it.
#pragma once

#include "base/environment.hpp"
#include "doors/hook_command.hpp"

namespace cloche {

int install_hook(const HookArguments& arguments, const Environment& environment);

}  // namespace cloche
