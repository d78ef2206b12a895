#include "gateway/launch/caller.hpp"

#include "confine/kernel_rules.hpp"
#include "confine/launch.hpp"
#include "confine/native/probe.hpp"
#include "policy/plan/plan_run.hpp"

namespace cloche {
namespace {

// Before there is a plan: what it will require.
std::vector<MissingLayer> missing_for(const RunRequest& request) {
  ConfinementPlan plan;
  plan.level = request.level;
  plan.required = required_of(request);
  plan.network = request.network;
  if (backend_of(request) == Backend::none) plan.required.clear();
  return missing_layers(plan, probe_host());
}

}  // namespace

Error describe_missing(const std::vector<MissingLayer>& missing) {
  Error error{Cause::missing_layer};
  for (const auto& layer : missing) {
    if (!error.layer) error.layer = layer.id;
    error.what += (error.what.empty() ? "missing layer " : "; missing layer ") +
                  std::string(name_of(layer.id)) + ": " + layer.why;
    error.fix += (error.fix.empty() ? "" : "; ") + layer.fix;
  }
  return error;
}

Result<void> judge_layers(const RunRequest& request) {
  const auto missing = missing_for(request);
  return missing.empty() ? Result<void>() : describe_missing(missing);
}

Result<void> judge_caller(const RunRequest& request, const CallerFact& caller) {
  const auto judged = judge_own_id(caller, request.level);
  if (judged.ok()) return {};
  TRY(judge_layers(request));
  Error error = judged.error();
  // An ordinary user would meet the same.
  const std::string also = fix_for_user_namespaces(user_namespace_switches());
  if (!also.empty()) error.fix = "give root these capabilities, or, for an ordinary user: " + also;
  return error;
}

}  // namespace cloche
