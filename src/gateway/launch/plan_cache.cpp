#include "gateway/launch/plan_cache.hpp"

#include <algorithm>
#include <utility>

#include "policy/plan/plan_call.hpp"
#include "policy/plan/plan_run.hpp"

namespace cloche {
namespace {

// Passive and full commands of a few tasks; more would only be compared in vain.
constexpr size_t most_kept = 4;

Planned with_digest(ConfinementPlan plan) {
  std::string digest = digest_of(plan);
  return {std::move(plan), std::move(digest)};
}

}  // namespace

Result<Planned> PlanCache::plan(const Launch& launch, const RunRequest& operators, const Facts& facts) {
  // What the gateway does itself has no view, and the text of a script is seldom the same twice.
  if (launch.argv.empty() || launch.script) return with_digest(TRY(plan_launch(launch, operators, facts)));
  RunRequest request = request_for(launch, operators);
  std::vector<std::string> command = std::exchange(request.argv, {});
  const auto kept = TRY(plan_without_command(std::move(request), facts));
  Planned planned{kept->plan, {}};
  planned.plan.argv = std::move(command);
  planned.digest = digest_of(kept->rendered, planned.plan.argv);
  return planned;
}

Result<std::shared_ptr<const PlanCache::Kept>> PlanCache::plan_without_command(RunRequest request,
                                                                               const Facts& facts) {
  const std::lock_guard held(lock_);
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const auto& kept) {
    return kept->request == request && kept->facts == facts;
  });
  if (found != kept_.end()) {
    std::rotate(kept_.begin(), found, found + 1);
    return kept_.front();
  }
  ConfinementPlan plan = TRY(plan_run(request, facts));
  RenderedPlan rendered = render_around_command(plan);
  auto made =
      std::make_shared<const Kept>(Kept{std::move(request), facts, std::move(plan), std::move(rendered)});
  if (kept_.size() == most_kept) kept_.pop_back();
  kept_.insert(kept_.begin(), made);
  return std::shared_ptr<const Kept>(std::move(made));
}

}  // namespace cloche
