#include "policy/plan/layered_trees.hpp"

#include <algorithm>

#include "base/sys/path.hpp"

namespace cloche {
namespace {

bool is_operators(const ViewEntry& entry) {
  const bool writable = entry.access == Access::write || entry.access == Access::write_run;
  return entry.kind == EntryKind::tree && entry.owned && writable && entry.role == EntryRole::shown;
}

bool can_have_layer(const ViewEntry& entry) { return is_operators(entry) && !entry.file; }

// Of the directories that have or get a layer, the one that this lies in; nullptr: none.
const ViewEntry* around(const std::vector<ViewEntry>& view, const ViewEntry& inner) {
  const ViewEntry* widest = nullptr;
  for (const auto& entry : view) {
    if (&entry == &inner || !can_have_layer(entry) || !is_beneath(entry.source, inner.source)) continue;
    const bool is_twin = entry.source == inner.source && &entry > &inner;
    if (is_twin && !inner.file) continue;  // of two that are the same the first stays
    if (widest == nullptr || entry.source.size() < widest->source.size()) widest = &entry;
  }
  return widest;
}

}  // namespace

Result<void> layer_writes(ConfinementPlan& plan) {
  std::vector<ViewEntry>& view = plan.view.edit();
  std::vector<bool> shown_through(view.size());
  for (size_t i = 0; i < view.size(); ++i) {
    const ViewEntry& inner = view[i];
    if (!is_operators(inner)) continue;
    const ViewEntry* outer = around(view, inner);
    if (outer == nullptr) continue;
    if (inner.target != outer->target + inner.source.substr(outer->source.size()))
      return refusal(inner.source + " lies in " + outer->source +
                         ", which is writable as well, and is shown at " + inner.target +
                         " too: a call's writes would have two versions of it",
                     "show it at one place, or write live: --live");
    shown_through[i] = true;
  }
  size_t at = 0;
  std::erase_if(view, [&](const ViewEntry&) { return shown_through[at++]; });
  for (auto& entry : view) entry.layered = can_have_layer(entry);
  return {};
}

std::vector<const ViewEntry*> layered_trees(const ConfinementPlan& plan) {
  std::vector<const ViewEntry*> trees;
  for (const auto& entry : plan.view)
    if (entry.layered) trees.push_back(&entry);
  return trees;
}

std::vector<const ViewEntry*> live_trees(const ConfinementPlan& plan) {
  std::vector<const ViewEntry*> trees;
  for (const auto& entry : plan.view)
    if (is_operators(entry) && !entry.layered) trees.push_back(&entry);
  return trees;
}

}  // namespace cloche
