#include "gateway/checks/own_run.hpp"

#include "gateway/launch/caller.hpp"
#include "policy/plan/plan_run.hpp"
#include "store/host/observe.hpp"
#include "store/protected/fixed_places.hpp"

namespace cloche {
namespace {

struct Planned {
  Observation seen;
  ConfinementPlan plan;
};

Result<Planned> observe_and_plan(const RunRequest& request, const Environment& environment,
                                 const Installation& installation, const Learnt& learnt) {
  CallerFact caller = observe_caller(request, environment, installation.ids);
  TRY(judge_caller(request, caller));
  Planned planned;
  planned.seen = TRY(observe(request, environment, std::move(caller), installation.places(environment)));
  TRY(judge_workspace(planned.seen.facts.workspace, planned.seen.facts.caller.home));
  if (writes_of(request) == Writes::live) TRY(observe_fixed_places(request, planned.seen));
  TRY(apply(learnt, planned.seen.facts));
  planned.plan = TRY(plan_run(request, planned.seen.facts));
  return planned;
}

}  // namespace

Result<ConfinementPlan> plan_own(const RunRequest& request, const Environment& environment,
                                 const Installation& installation) {
  return std::move(TRY(observe_and_plan(request, environment, installation, {})).plan);
}

Result<Ran> run_own(const RunRequest& request, const Environment& environment,
                    const Installation& installation, Proving proving) {
  Learnt learnt;
  for (;;) {
    Planned planned = TRY(observe_and_plan(request, environment, installation, learnt));
    const OwnProcess own(std::move(planned.plan));
    auto ended = TRY(start_program(own, planned.seen.facts,
                                   {.installation = installation, .streams = Streams{}, .proving = proving}));
    if (auto* ran = std::get_if<Ran>(&ended)) return std::move(*ran);
    auto& voided = std::get<Voided>(ended);
    if (learnt.times == most_judged_again) return std::move(voided.why);
    learnt.add(std::move(voided.learnt));
  }
}

}  // namespace cloche
