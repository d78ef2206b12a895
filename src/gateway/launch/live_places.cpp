#include "gateway/launch/live_places.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/visible_text.hpp"
#include "policy/changes/judge_changes.hpp"
#include "store/changes/change_facts.hpp"
#include "store/protected/fixed_places.hpp"
#include "store/protected/quarantine.hpp"

namespace cloche {
namespace {

const FixedPlace* find(const FixedTree& tree, const std::string& path) {
  const auto found = std::find_if(tree.places.begin(), tree.places.end(),
                                  [&](const FixedPlace& place) { return place.path == path; });
  return found != tree.places.end() ? &*found : nullptr;
}

// The trees are looked at as they are now, so what was before the command is taken from what was seen then.
void correct(ChangeFacts& facts, const ChangeSet& set, const std::vector<FixedTree>& before) {
  facts.repositories_outside.clear();  // by pointers that are as they were, of which the set has none
  for (const auto& change : set.changes) {
    const TreePath where = change.where();
    const auto around = facts.directories.find({change.tree, std::string(directory_in(change.path))});
    if (around != facts.directories.end() && !change.before)
      std::erase_if(around->second.names,
                    [&](const DirectoryAround::Name& name) { return name.name == name_in(change.path); });
    facts.texts_before.erase(where);
    const FixedPlace* was = find(before[change.tree], change.path);
    if (was != nullptr && was->content && facts.texts_after.contains(where))
      facts.texts_before[where] = *was->content;
  }
}

// Whether it is, or lies in, what was executed before the command, whatever says so now.
bool was_executed(const FixedTree& before, const std::string& path) {
  return std::any_of(before.places.begin(), before.places.end(), [&](const FixedPlace& place) {
    return place.is_executed && is_at_or_below(place.path, path);
  });
}

std::vector<ChangedTree> trees_of(const GuardFacts& guard) {
  std::vector<ChangedTree> trees;
  for (const auto& tree : guard.trees) trees.push_back({tree.root, tree.device, tree.inode});
  return trees;
}

// Of a call that writes live what a mount stands on: with layers it stands on the layer.
std::vector<FileFact> mounted_places(const Facts& facts) {
  if (facts.guard.trees.empty()) return {};
  std::vector<FileFact> places = facts.guard.kept;
  places.insert(places.end(), facts.guard.pinned.begin(), facts.guard.pinned.end());
  std::ranges::copy_if(facts.hide.found, std::back_inserter(places), &FileFact::exists);
  return places;
}

}  // namespace

Result<LivePlaces> LivePlaces::hold(const Facts& facts, const std::string& state) {
  LivePlaces places;
  places.workspace_ = facts.workspace.path;
  for (const auto& tree : facts.guard.trees) {
    auto opened = sys::open(tree.root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    OwnedFd root = opened.ok() ? std::move(opened).value() : OwnedFd();
    struct stat now {};
    if (!root || ::fstat(root.get(), &now) != 0 || now.st_dev != tree.device || now.st_ino != tree.inode)
      return refusal("a directory that was judged is gone or was replaced: " + tree.root, "call again");
    places.roots_.push_back(std::move(root));
  }
  places.mounts_ = TRY(LiveMounts::announce(state, trees_of(facts.guard), mounted_places(facts)));
  return places;
}

LivePlaces::Taken LivePlaces::take_new(const GuardFacts& guard, const std::string& quarantine) const {
  Taken taken;
  const auto add_gap = [&](const std::string& why) {
    if (taken.gap.empty()) taken.gap = why;
  };
  std::vector<FixedTree> after;
  std::vector<TreeLayers> layers;
  for (size_t i = 0; i < roots_.size(); ++i) {
    const FixedTree& before = guard.trees[i];
    after.push_back(look_at_fixed_places(roots_[i].get(), before, guard.git));
    layers.push_back({{before.root, before.device, before.inode}, roots_[i].get(), roots_[i].get()});
    add_gap(before.gap);
    add_gap(after.back().gap);
  }
  const ChangeSet set = changes_between(guard.trees, after);
  if (set.changes.empty()) return taken;
  auto facts = look_around_changes(set, layers, guard.git);
  if (!facts.ok()) {
    add_gap(describe(facts.error()));
    return taken;
  }
  correct(facts.value(), set, guard.trees);
  auto dangers = dangers_of(set, facts.value(), guard.allowed);
  Quarantine kept(quarantine);
  const Change* last = nullptr;  // that was taken, with everything beneath it
  for (size_t i = 0; i < set.changes.size(); ++i) {
    const Change& change = set.changes[i];
    const std::string& root = set.trees[change.tree].path;
    const bool is_let_go = is_beneath_any(guard.allowed, root + "/" + change.path);
    if (!dangers[i] && !is_let_go && was_executed(guard.trees[change.tree], change.path))
      dangers[i] = "a configuration of git, or a link in the home directory, has it executed";
    if (!dangers[i]) continue;
    const std::string path = root == workspace_ ? change.path : root + "/" + change.path;
    const bool is_gone =
        last != nullptr && last->tree == change.tree && is_at_or_below(last->path, change.path);
    if (change.after && !is_gone) {
      auto moved = kept.take(roots_[change.tree].get(), root, change.path);
      if (!moved.ok() && moved.error().number == ENOENT) continue;  // another call has taken it
      if (!moved.ok()) {
        add_gap(shown(path) + " could not be moved away: " + describe(moved.error()));
        continue;
      }
      moved.value().path = path;
      moved.value().reason = *dangers[i];
      taken.quarantined.push_back(std::move(moved).value());
      last = &change;
    }
    const FixedPlace* was = find(guard.trees[change.tree], change.path);
    if (was == nullptr) continue;
    const auto restored = put_back(roots_[change.tree].get(), *was);
    if (restored.ok()) {
      taken.restored.push_back(path);
    } else if (restored.error().number != EEXIST) {  // another call has put it back
      add_gap(shown(path) + " could not be put back: " + describe(restored.error()));
    }
  }
  return taken;
}

}  // namespace cloche
