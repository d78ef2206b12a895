#include "gateway/launch/session_caches.hpp"

#include <algorithm>
#include <utility>

#include "base/sys/sys.hpp"
#include "policy/plan/plan_call.hpp"
#include "policy/plan/plan_run.hpp"

namespace cloche {
namespace {

constexpr uint64_t longest_ms = 1000;

}  // namespace

Result<std::shared_ptr<const Facts>> HostFactsCache::now(const RunRequest& request,
                                                         const Environment& environment,
                                                         const Installation& installation,
                                                         const Early& early) {
  const std::lock_guard held(lock_);
  const uint64_t now_ms = sys::monotonic_ms();
  if (facts_ && now_ms - taken_ms_ < longest_ms) return facts_;
  // Whether he may is asked when a call has its level: not every tool has one, and not every isolation level
  // promises ids.
  CallerFact caller = observe_caller(request, environment, installation.ids);
  if (early) early(request, caller);
  facts_ = std::make_shared<const Facts>(
      TRY(observe_host(request, environment, std::move(caller), installation.places(environment))));
  taken_ms_ = now_ms;
  return facts_;
}

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
