// From what the operator asked and what the host has to one ConfinementPlan. Pure: same input, same plan.
#pragma once

#include "base/result.hpp"
#include "model/facts.hpp"
#include "model/plan.hpp"
#include "model/run_request.hpp"

namespace cloche {

// Why this directory cannot be a workspace, or nothing.
Result<void> judge_workspace(const FileFact& workspace, const std::string& home);

Result<ConfinementPlan> plan_run(const RunRequest& request, const Facts& facts);

}  // namespace cloche
