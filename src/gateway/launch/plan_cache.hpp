// A call's plan and its digest, made anew only when something that they are made of is new. Planning is pure:
// an equal request and equal facts have an equal plan, and of the request the command is only carried. The
// calls of a session mostly differ in that alone.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/call.hpp"
#include "model/facts.hpp"
#include "model/plan.hpp"
#include "model/run_request.hpp"

namespace cloche {

struct Planned {
  ConfinementPlan plan;
  std::string digest;
};

class PlanCache {
 public:
  // As plan_launch(), and digest_of() of that.
  Result<Planned> plan(const Launch& launch, const RunRequest& operators, const Facts& facts);

 private:
  // Everything that a plan is made of but its command, and what is made of it.
  struct Kept {
    RunRequest request;
    Facts facts;
    ConfinementPlan plan;
    RenderedPlan rendered;
  };

  Result<std::shared_ptr<const Kept>> plan_without_command(RunRequest request, const Facts& facts);

  std::mutex lock_;
  std::vector<std::shared_ptr<const Kept>> kept_;  // the newest first
};

}  // namespace cloche
