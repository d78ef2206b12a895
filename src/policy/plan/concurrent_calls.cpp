#include "policy/plan/concurrent_calls.hpp"

#include <algorithm>

#include "base/sys/path.hpp"

namespace cloche {

bool is_mounted(const ConfinementPlan& plan, const Grant& given) {
  return given.writable && std::ranges::any_of(plan.view, [&](const ViewEntry& entry) {
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
    const bool holds_another = std::ranges::any_of(plan.view, [&](const ViewEntry& entry) {
      return lies_within(entry, given) && !(stays && is_beneath(pinned, entry.target));
    });
    if (holds_another) return TaskUse::exclusive;
  }
  return TaskUse::shared;
}

}  // namespace cloche
