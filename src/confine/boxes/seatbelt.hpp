// A plan as a profile of macOS's sandbox-exec. It can be read and compared here, and not run: there is no
// Seatbelt on Linux. A profile denies; it makes nothing and hides nothing, so that what a view has of its own
// (a private /tmp, a home, synthetic files) is simply not there to be used. Pure.
#pragma once

#include <string>
#include <vector>

#include "model/layers.hpp"
#include "model/plan.hpp"

namespace cloche {

std::string seatbelt_profile(const ConfinementPlan& plan);

// "sandbox-exec" first. It is to be started in the plan's own directory: sandbox-exec does not go there.
std::vector<std::string> seatbelt_arguments(const ConfinementPlan& plan);

// What the plan requires and a profile does not keep.
std::vector<MissingLayer> seatbelt_missing(const ConfinementPlan& plan);

}  // namespace cloche
