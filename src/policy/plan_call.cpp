#include "policy/plan_call.hpp"

#include <algorithm>

#include "policy/plan_run.hpp"

namespace cloche {

RunRequest request_for(const Launch& launch, RunRequest operators) {
  RunRequest request = std::move(operators);
  request.argv = launch.argv;
  request.terminal = false;  // a call has no terminal of anybody's
  request.noexec = launch.noexec;
  if (launch.readonly) request.profile = Profile::readonly;
  request.limits.wall_ms =
      std::min(request.limits.wall_ms, launch.timeout_ms.value_or(request.limits.wall_ms));
  if (launch.system_programs) request.toolchains = "none";
  if (!launch.directory.empty()) request.directory = launch.directory;
  for (const auto& name : launch.pass_env) request.environment.push_back({name});
  // Last, so that what the shape says stands over what was passed.
  for (const auto& [name, value] : launch.environment) request.environment.push_back({name, value});
  return request;
}

Result<ConfinementPlan> plan_launch(const Launch& launch, const RunRequest& operators, Facts facts) {
  if (launch.system_programs) facts.toolchains.clear();
  return plan_run(request_for(launch, operators), facts);
}

}  // namespace cloche
