// `cloche hook --check AGENT`: whether the agent really asks the hook. An agent passes over a hook that it
// does not trust, without a word; then what it runs is confined by its own sandbox alone, and that must stay
// on.
#pragma once

#include "base/sys/environment.hpp"
#include "doors/hook/hook_command.hpp"

namespace cloche {

// 0: a call has arrived since the settings were last changed. 1: none has.
int check_hook(const HookArguments& arguments, const Environment& environment);

}  // namespace cloche
