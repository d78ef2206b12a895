// From a permitted command to its confinement: what the operator gives every call, with what the command's
// shape adds. Pure.
#pragma once

#include "base/result.hpp"
#include "model/call.hpp"
#include "model/facts.hpp"
#include "model/plan.hpp"
#include "model/run_request.hpp"

namespace cloche {

// `operators` has no command: workspace, profile, grants, limits. What comes back is what gateway run()
// takes.
RunRequest request_for(const Launch& launch, RunRequest operators);

// The plan of that request, from facts that were looked up for the operator's.
Result<ConfinementPlan> plan_launch(const Launch& launch, const RunRequest& operators, const Facts& facts);

}  // namespace cloche
