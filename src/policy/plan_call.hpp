// From a permitted command to its confinement: what the operator gives every call, with what the command's
// shape adds. Pure.
#pragma once

#include "base/result.hpp"
#include "model/call.hpp"
#include "model/facts.hpp"
#include "model/plan.hpp"
#include "model/run_request.hpp"

namespace cloche {

// `request` is the operator's, without a command: workspace, profile, grants, limits.
Result<ConfinementPlan> plan_launch(const Launch& launch, RunRequest request, Facts facts);

}  // namespace cloche
