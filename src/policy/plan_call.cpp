#include "policy/plan_call.hpp"

#include <algorithm>

#include "policy/plan_run.hpp"

namespace cloche {
namespace {

// What the shape says stands over what the plan has; names stay in order.
void set_variable(std::vector<Variable>& environment, const Variable& variable) {
  const auto at = std::lower_bound(environment.begin(), environment.end(), variable,
                                   [](const Variable& a, const Variable& b) { return a.name < b.name; });
  if (at != environment.end() && at->name == variable.name) {
    at->value = variable.value;
  } else {
    environment.insert(at, variable);
  }
}

// Neither what can be written nor what the operator's own trees hold may execute; the system's programs may.
void forbid_execution(std::vector<ViewEntry>& view) {
  for (auto& entry : view) {
    if (entry.access == Access::write_run) entry.access = Access::write;
    if (entry.owned && entry.access == Access::run) entry.access = Access::read;
  }
}

}  // namespace

Result<ConfinementPlan> plan_launch(const Launch& launch, RunRequest request, Facts facts) {
  request.argv = launch.argv;
  request.terminal = false;  // a call has no terminal of anybody's
  request.limits.wall_ms =
      std::min(request.limits.wall_ms, launch.timeout_ms.value_or(request.limits.wall_ms));
  for (const auto& name : launch.pass_env) request.environment.push_back({name});
  if (launch.system_programs) facts.toolchains.clear();
  if (!launch.directory.empty()) request.directory = launch.directory;
  ConfinementPlan plan = TRY(plan_run(request, facts));
  for (const auto& variable : launch.environment) set_variable(plan.environment, variable);
  if (launch.noexec) forbid_execution(plan.view);
  return plan;
}

}  // namespace cloche
