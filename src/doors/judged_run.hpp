// `cloche run` where there is configuration, or where somebody wants to know what would happen: the gates
// that apply to an operator's command answer first, and a person is asked where a rule says so.
#pragma once

#include <span>

#include "base/environment.hpp"
#include "doors/run_command.hpp"
#include "policy/approval.hpp"

namespace cloche {

int judged_run_door(std::span<char* const> words, const Environment& environment,
                    const CallersDescriptors& callers, Approver& approver);

}  // namespace cloche
