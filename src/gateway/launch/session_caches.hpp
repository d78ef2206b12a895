// What the calls of a session share, so that each need not find it out anew: what the host is like, and
// plans.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/environment.hpp"
#include "gateway/configuration/installation.hpp"
#include "model/call.hpp"
#include "model/facts.hpp"
#include "model/plan.hpp"
#include "model/run_request.hpp"

namespace cloche {

// What the host is like, looked up at most once a second for all calls of a session: who calls, the system's
// paths and toolchains do not change from call to call, and the jail checks that it mounts what was judged.
class HostFactsCache {
 public:
  // `request` has the view and the toolchains.
  // `early` is told who calls before the rest is looked up; not where all of it is known already.
  using Early = std::function<void(const RunRequest&, const CallerFact&)>;
  Result<std::shared_ptr<const Facts>> now(const RunRequest& request, const Environment& environment,
                                           const Installation& installation, const Early& early = {});

 private:
  std::mutex lock_;
  uint64_t taken_ms_ = 0;
  std::shared_ptr<const Facts> facts_;
};

// A call's plan and its digest, made anew only when something that they are made of is new. Planning is pure:
// an equal request and equal facts have an equal plan, and of the request the command is only carried. The
// calls of a session mostly differ in that alone.
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
