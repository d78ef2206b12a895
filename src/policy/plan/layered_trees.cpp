#include "policy/plan/layered_trees.hpp"

#include <algorithm>

#include "base/sys/path.hpp"
#include "policy/plan/view_entries.hpp"
#include "policy/plan/view_guards.hpp"

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
    if (entry.mount != 0 && inner.mount != 0 && entry.mount != inner.mount) continue;  // not in its layer
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
  std::vector<ViewEntry> links;
  for (size_t i = 0; i < view.size(); ++i) {
    const ViewEntry& inner = view[i];
    if (!is_operators(inner)) continue;
    const ViewEntry* outer = around(view, inner);
    if (outer == nullptr) continue;
    // One layer, so one place: by another name it is a link to that.
    const std::string place = outer->target + inner.source.substr(outer->source.size());
    if (inner.target != place)
      links.push_back({.kind = EntryKind::link, .target = inner.target, .source = place, .why = inner.why});
    shown_through[i] = true;
  }
  size_t at = 0;
  std::erase_if(view, [&](const ViewEntry&) { return shown_through[at++]; });
  for (const auto& link : links) {
    const auto is_in_it = [&](const ViewEntry& entry) {
      return entry.target != link.target && is_beneath(link.target, entry.target);
    };
    if (std::ranges::any_of(view, [&](const ViewEntry& entry) {
          return is_in_it(entry) && entry.owned && entry.role == EntryRole::shown;
        }))
      return refusal("something else is shown in " + link.target + ", and it is " + link.source +
                         " by another name: a call's writes would have two versions of it",
                     "show it at one place, or write live: --live");
    std::erase_if(view, is_in_it);  // what is covered or kept there is so at its own place
    view.push_back(link);
  }
  if (!links.empty()) view::put_in_order(view);
  for (auto& entry : view) entry.layered = can_have_layer(entry);
  return {};
}

Result<void> judge_mounts_in_layers(const ConfinementPlan& plan, const std::vector<FileFact>& mounts) {
  for (const ViewEntry* tree : layered_trees(plan))
    for (const FileFact& mount : mounts)
      if (mount.path != tree->source && is_beneath(tree->source, mount.path))
        return refusal(mount.path + " is mounted in " + tree->source +
                           ", and the kernel lets no ordinary user have a layer for writes over that",
                       "unmount it, or write live: --live");
  return {};
}

void show_live(ConfinementPlan& plan, const std::vector<FileFact>& directories) {
  std::vector<ViewEntry>& view = plan.view.edit();
  for (const FileFact& directory : directories) {
    const auto outer = std::ranges::find_if(view, [&](const ViewEntry& entry) {
      return entry.layered && directory.path != entry.source && is_beneath(entry.source, directory.path);
    });
    if (outer == view.end()) continue;
    std::string target = outer->target + directory.path.substr(outer->source.size());
    // Live, a directory above what is hidden could be renamed, and the next call would not find it.
    const bool meets_hidden = std::ranges::any_of(view, [&](const ViewEntry& entry) {
      return entry.access == Access::none &&
             (is_beneath(entry.target, target) || is_beneath(target, entry.target));
    });
    if (meets_hidden) continue;
    view.push_back(view::owned_tree(directory, std::move(target), outer->access, "live_paths"));
  }
  view::put_in_order(view);
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
