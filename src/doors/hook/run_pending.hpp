// `cloche run --call ID`: a command that a hook has judged and filed, started by the agent's shell. It is
// judged again, run in the sandbox and recorded; its output goes to the caller, and its exit code is
// Cloche's.
#pragma once

#include <string>

#include "base/sys/environment.hpp"

namespace cloche {

int run_pending_command(const std::string& id, const Environment& environment);

}  // namespace cloche
