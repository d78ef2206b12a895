// What would happen to a call, without letting it happen: the same understanding, the same look at the world,
// the same decide() and the same plan as the real call.
#pragma once

#include <optional>
#include <string>

#include "base/environment.hpp"
#include "base/result.hpp"
#include "gateway/run.hpp"
#include "model/call.hpp"
#include "policy/decide.hpp"
#include "policy/rules.hpp"

namespace cloche {

struct CallRequest {
  ToolCall call;
  Ceilings ceilings;
  RunRequest operators;  // workspace, profile, grants and limits; no command
};

struct Explanation {
  Judgement judgement;
  std::optional<ConfinementPlan> plan = {};  // unless it is denied
};

// The shapes for this workspace: the files beside the programs and the user's own.
Result<Shapes> shapes_for(const Installation& installation, const Environment& environment,
                          const std::string& workspace);

// The case as decide() will see it, with every fact it needs.
Case make_case(const CallRequest& request, const Facts& facts, const Shapes& shapes, const RuleFiles& rules);

Result<Explanation> explain_call(const CallRequest& request, const Environment& environment,
                                 const Installation& installation);
Result<Explanation> explain_run(const RunRequest& request, const Environment& environment,
                                const Installation& installation);

}  // namespace cloche
