// `cloche run --call ID`: what a hook has judged and kept, started by the agent's shell. Judged again as it
// was, run under the glass, recorded; its output is the caller's and its exit code is ours.
#pragma once

#include <string>

#include "base/sys/environment.hpp"

namespace cloche {

int kept_run_door(const std::string& id, const Environment& environment);

}  // namespace cloche
