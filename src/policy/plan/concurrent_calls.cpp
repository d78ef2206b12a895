#include "policy/plan/concurrent_calls.hpp"

#include <algorithm>

#include "base/sys/path.hpp"

namespace cloche {
namespace {

bool may_write(const ViewEntry& entry) {
  return entry.kind == EntryKind::tree &&
         (entry.access == Access::write || entry.access == Access::write_run);
}

}  // namespace

std::vector<std::string> trees_changed_by(const ConfinementPlan& plan) {
  if (plan.backend == Backend::none) return {"/"};
  std::vector<std::string> trees;
  for (const auto& entry : plan.view) {
    if (may_write(entry) && entry.role == EntryRole::shown) trees.push_back(entry.source);
  }
  return trees;
}

bool is_mounted(const ConfinementPlan& plan, const Grant& given) {
  return given.writable && std::any_of(plan.view.begin(), plan.view.end(), [&](const ViewEntry& entry) {
           return entry.kind == EntryKind::tree && entry.target == given.target;
         });
}

bool lies_within(const ViewEntry& entry, const Grant& given) {
  return entry.target != given.target && is_beneath(given.target, entry.target);
}

TaskUse task_use_of(const ConfinementPlan& plan, const std::vector<Grant>& own, std::string_view pinned) {
  for (const auto& given : own) {
    if (!is_mounted(plan, given)) continue;
    const bool stays = !pinned.empty() && parent_of(pinned) == given.target;
    const bool holds_another = std::any_of(plan.view.begin(), plan.view.end(), [&](const ViewEntry& entry) {
      return lies_within(entry, given) && !(stays && is_beneath(pinned, entry.target));
    });
    if (holds_another) return TaskUse::exclusive;
  }
  return TaskUse::shared;
}

std::string_view why_waiting(WaitsFor what) {
  switch (what) {
    case WaitsFor::approved_call: return "an approved call runs in this workspace, and no other beside it";
    case WaitsFor::other_calls:
      return "other calls still run in this workspace, and could change the files that this one is asked "
             "about";
    case WaitsFor::calls_of_task:
      return "another call of this session still runs, and calls in a project below /tmp or /var/tmp run one "
             "at a time";
  }
  return "";
}

Result<void> judge_wait(WaitsFor what, WaitEnd end) {
  if (end == WaitEnd::ready) return {};
  if (end == WaitEnd::cancelled) return refusal("cancelled while it waited for other calls");
  if (what == WaitsFor::calls_of_task)
    return refusal(
        "another call of the task still runs, and this one cannot run beside it: something that it is shown "
        "lies in the task's own /tmp or home",
        "wait for the other one, use another task, or keep the workspace outside of /tmp");
  return refusal(std::string(why_waiting(what)), "call it again when they have ended, or end them");
}

}  // namespace cloche
