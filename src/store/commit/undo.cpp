#include "store/commit/undo.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "base/text/visible_text.hpp"
#include "store/commit/commit_check.hpp"
#include "store/commit/layer_walk.hpp"
#include "store/commit/tree_directories.hpp"

namespace cloche {
namespace {

Change inverse_of(const Change& change) {
  Change inverse = change;
  std::swap(inverse.before, inverse.after);
  if (change.kind == ChangeKind::created) inverse.kind = ChangeKind::deleted;
  if (change.kind == ChangeKind::deleted) inverse.kind = ChangeKind::created;
  return inverse;
}

class UndoPlanner {
 public:
  UndoPlanner(const StoredSet& set, const std::vector<OwnedFd>& projects,
              const std::set<Placed>& placed_by_undos)
      : set_(set), steps_(set), projects_(projects), placed_by_undos_(placed_by_undos) {}

  Result<UndoPlan> run(const std::vector<TreePath>& paths);

 private:
  Result<void> choose(const std::vector<TreePath>& paths);
  void choose_parents();
  Result<void> find_source(Step& step) const;
  bool is_freed(const Step& step) const;
  bool came_back(size_t tree, const std::string& path, const struct stat& seen) const;
  void check(const Step& step);
  void check_file(const Step& step, const struct stat& seen);
  void check_below(const Step& step, int directory, const std::string& name);
  void conflict(const Step& step, std::string reason) {
    plan_.conflicts.push_back({step.tree, step.path, std::move(reason)});
  }

  const StoredSet& set_;
  const StepsOfPaths steps_;
  const std::vector<OwnedFd>& projects_;
  const std::set<Placed>& placed_by_undos_;
  std::map<TreePath, const FileState*> after_ = {};  // what the set made of each path
  std::vector<bool> chosen_ = {};                    // of the set's changes
  UndoPlan plan_ = {};
};

Result<void> UndoPlanner::choose(const std::vector<TreePath>& paths) {
  const auto& changes = set_.changes.changes;
  chosen_.assign(changes.size(), false);
  for (size_t i = 0; i < changes.size(); ++i) chosen_[i] = paths.empty() && is_in_project(set_, i);
  for (const TreePath& wanted : paths) {
    bool is_found = false;
    for (size_t i = 0; i < changes.size(); ++i) {
      const bool is_meant = changes[i].tree == wanted.tree && is_at_or_below(wanted.path, changes[i].path);
      if (!is_meant || !is_in_project(set_, i)) continue;
      chosen_[i] = true;
      is_found = true;
    }
    if (!is_found)
      return refusal("'" + shown(wanted.path) + "' is not among the changes of " + set_.header.id);
  }
  choose_parents();
  return {};
}

// A file comes back into directories that were deleted with it.
void UndoPlanner::choose_parents() {
  const auto& changes = set_.changes.changes;
  std::map<TreePath, size_t> deleted;
  for (size_t i = 0; i < changes.size(); ++i) {
    if (takes_directory(changes[i]) && is_in_project(set_, i)) deleted[changes[i].where()] = i;
  }
  if (deleted.empty()) return;
  for (size_t i = 0; i < changes.size(); ++i) {
    if (!chosen_[i] || !changes[i].before) continue;
    for (TreePath at = changes[i].around(); !at.path.empty(); at.path.resize(directory_in(at.path).size())) {
      const auto parent = deleted.find(at);
      if (parent == deleted.end() || chosen_[parent->second]) break;
      chosen_[parent->second] = true;
    }
  }
}

// Where the first commit put what stood at the path.
Result<void> UndoPlanner::find_source(Step& step) const {
  if (step.from.empty()) return {};
  const auto kept = steps_.kept(step.tree, step.path);
  if (!kept) return refusal("nothing was kept of '" + shown(step.path) + "'");
  step.from = *kept;
  return {};
}

// Another undo put it there again, and it is still what this set made of the path: bytes that were written
// meanwhile have moved its time.
bool UndoPlanner::came_back(size_t tree, const std::string& path, const struct stat& seen) const {
  const auto after = after_.find({tree, path});
  if (after == after_.end()) return false;
  const FileState now = state_of(seen);
  const bool is_as_made = now.kind == after->second->kind && now.mode == after->second->mode &&
                          now.size == after->second->size && now.modified_ns == after->second->modified_ns;
  return is_as_made && placed_by_undos_.contains(placed_as(seen));
}

// A file must be the very one that the commit put there, unchanged since.
void UndoPlanner::check_file(const Step& step, const struct stat& seen) {
  const Placed now = placed_as(seen);
  const Placed* then = steps_.placed(step.tree, step.path);
  if (then == nullptr) {
    if (now.changed_ns >= set_.header.ended_ns) conflict(step, "was changed since");
    return;
  }
  const bool is_same_file = now.device == then->device && now.inode == then->inode;
  if (now == *then || (is_same_file && came_back(step.tree, step.path, seen))) return;
  conflict(step, "was changed or replaced since");
}

void UndoPlanner::check_below(const Step& step, int directory, const std::string& name) {
  uint64_t entries = 1;
  bool is_changed = false;
  const auto walked =
      walk_below(directory, name, ClosedDirectory::opened, [&](const WalkedEntry& entry) -> Result<void> {
        ++entries;
        if (entry.type == DT_DIR || is_changed) return {};
        const auto seen = look_in(entry.directory, entry.name);
        const std::string path = joined(step.path, joined(entry.in, entry.name));
        const Placed now = seen ? placed_as(*seen) : Placed{};
        const Placed* then = steps_.placed(step.tree, path);
        const bool is_same = then != nullptr && now == *then;
        is_changed = !seen || (!is_same && now.changed_ns >= set_.header.ended_ns &&
                               !came_back(step.tree, path, *seen));
        return {};
      });
  if (!walked.ok()) return conflict(step, walked.error().what.text());
  if (is_changed) return conflict(step, "holds something that was changed since");
  if (entries != step.entries) conflict(step, "holds more or less than was put there");
}

// Whether the undo itself removes what stands there.
bool UndoPlanner::is_freed(const Step& step) const {
  const auto& steps = plan_.planned.steps;
  return std::any_of(steps.begin(), steps.end(), [&](const Step& other) {
    return other.kind == StepKind::remove && other.tree == step.tree && other.path == step.path;
  });
}

void UndoPlanner::check(const Step& step) {
  if (step.kind == StepKind::settle_directory) return;  // modes are compared by the commit's own check
  const OwnedFd directory =
      open_descendant(projects_[step.tree].get(), directory_in(step.path), O_PATH | O_DIRECTORY);
  const auto name = last_of(step.path);
  const auto seen = directory ? look_in(directory.get(), name) : std::nullopt;
  // In a directory that the undo itself makes, or that is closed to its owner: there the commit's own check
  // compares kind, mode, size and times.
  if (!directory || (!seen && errno == EACCES)) return;
  if (!step.before) {
    if (seen && !is_freed(step)) conflict(step, "is there by now");
    return;
  }
  if (!seen) return conflict(step, "is no longer there");
  if (!S_ISDIR(seen->st_mode)) return check_file(step, *seen);
  check_below(step, directory.get(), name);
}

Result<UndoPlan> UndoPlanner::run(const std::vector<TreePath>& paths) {
  TRY(choose(paths));
  for (const Change& change : set_.changes.changes)
    if (change.after) after_[change.where()] = &*change.after;
  // Planned with everything that was done: a directory that comes back only in part is not moved whole.
  ChangeSet all{.trees = set_.changes.trees};
  std::vector<ChangeVerdict> verdicts;
  for (size_t i = 0; i < chosen_.size(); ++i) {
    if (!is_in_project(set_, i)) continue;
    all.changes.push_back(inverse_of(set_.changes.changes[i]));
    verdicts.push_back({.fate = chosen_[i] ? Fate::committed : Fate::withheld});
    if (chosen_[i]) plan_.changes.changes.push_back(all.changes.back());
  }
  plan_.changes.trees = set_.changes.trees;
  plan_.verdicts.assign(plan_.changes.changes.size(), ChangeVerdict{.fate = Fate::committed});
  plan_.planned = plan_steps(all, verdicts);
  if (!plan_.planned.left.empty())
    return refusal("'" + shown(all.changes[plan_.planned.left.front()].path) + "' cannot be undone alone");
  for (Step& step : plan_.planned.steps) {
    TRY(find_source(step));
    check(step);
  }
  for (const StoredTree& tree : set_.header.trees)
    plan_.trees.push_back({.project = tree.project, .source = tree.undo});
  return std::move(plan_);
}

}  // namespace

// A directory that comes back whole is one step.
std::string UndoPlan::source_of(size_t tree, const std::string& path) const {
  const Step* nearest = nullptr;
  for (const Step& step : planned.steps) {
    const bool holds = step.tree == tree && is_at_or_below(step.path, path);
    if (holds && moves_source(step) && (nearest == nullptr || step.path.size() > nearest->path.size()))
      nearest = &step;
  }
  return nearest == nullptr ? path : nearest->from + path.substr(nearest->path.size());
}

Result<UndoPlan> plan_undo(const StoredSet& set, const std::vector<TreePath>& paths,
                           const std::set<Placed>& placed_by_undos) {
  if (set.header.status != SetStatus::committed)
    return refusal("the change set " + set.header.id + " is " + std::string(name_of(set.header.status)) +
                   " and cannot be undone");
  // The upper layer may be gone since.
  std::vector<OwnedFd> projects;
  for (const StoredTree& tree : set.header.trees) {
    projects.push_back(TRY(open_known(tree.project)));
    TRY(open_known(tree.undo));
  }
  return UndoPlanner(set, projects, placed_by_undos).run(paths);
}

}  // namespace cloche
