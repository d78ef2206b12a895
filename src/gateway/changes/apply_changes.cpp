// StoredChanges::apply: what waits in a set is brought into the project.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/text/random_word.hpp"
#include "base/text/visible_text.hpp"
#include "gateway/changes/stored_changes.hpp"
#include "store/commit/commit_check.hpp"
#include "store/commit/commit_lock.hpp"
#include "store/commit/tree_directories.hpp"
#include "store/layers/conflicts.hpp"

namespace cloche {
namespace {

constexpr const char* not_applied = "it was not applied yet";
constexpr const char* ours_kept = "the project's own was kept";

bool is_named(const std::vector<TreePath>& paths, const Change& change) {
  return std::find(paths.begin(), paths.end(), change.where()) != paths.end();
}

class Applying {
 public:
  Applying(const std::string& state, const GitSources& git, const ChangeSets& sets, SetInWork work,
           StoredSet set)
      : state_(state),
        git_(git),
        sets_(sets),
        work_(std::move(work)),
        set_(std::move(set)),
        changes_(set_.changes) {
    outcome_.set = set_.header.id;
    outcome_.label = set_.header.label;
    is_unjudged_ = is_unjudged(set_) && !changes_.changes.empty();
    verdicts_ = set_.verdicts;
    verdicts_.resize(changes_.changes.size());
  }

  Result<OperatorOutcome> run(const ApplyPaths& paths) {
    TRY(choose(paths));
    if (chosen_.empty()) return nothing();
    const auto lock = TRY(lock_commits(state_, changes_.trees));
    TRY(find_obstacles(paths));
    outcome_.paths = paths_at(changes_, verdicts_, {chosen_.begin(), chosen_.end()});
    if (!outcome_.conflicts.empty()) {
      outcome_.end = OperatorEnd::conflict;
      return std::move(outcome_);
    }
    if (chosen_.empty()) {
      outcome_.reasons.emplace_back("the project has it already");
      return nothing();
    }
    return is_staged() ? commit_staged(paths) : commit_rest();
  }

 private:
  bool is_staged() const { return set_.header.status == SetStatus::staged; }

  Result<void> choose(const ApplyPaths& paths);
  bool is_answered(size_t place, const std::vector<size_t>& named_places) const;
  void choose_parents(const std::vector<size_t>& waiting);
  Result<void> find_obstacles(const ApplyPaths& paths);
  std::vector<TreePath> named(const ApplyPaths& paths) const;
  std::set<size_t> find_merged(const HeldTrees& held) const;
  void find_conflicts_in_merged(const std::set<TreePath>& merged, const ApplyPaths& paths,
                                const HeldTrees& held);
  void forget_merged(const std::set<size_t>& merged);
  Result<bool> take_theirs(size_t place, int project);
  CallStart start() const;
  ChangeSet chosen_changes() const;
  Result<OperatorOutcome> nothing();
  Result<OperatorOutcome> commit_staged(const ApplyPaths& paths);
  Result<OperatorOutcome> commit_rest();
  void list_waiting(const StoredSet& now);

  const std::string& state_;
  const GitSources& git_;
  const ChangeSets& sets_;
  SetInWork work_;
  StoredSet set_;
  ChangeSet changes_;  // the set's, with what the project has by now where the operator wants theirs
  std::vector<ChangeVerdict> verdicts_ = {};
  ChangeSet merged_ = {};  // new directories of the set that the project has by now: no longer of the changes
  std::set<size_t> chosen_ = {};  // of the changes
  bool is_unjudged_ = false;
  OperatorOutcome outcome_ = {};
};

Result<void> Applying::choose(const ApplyPaths& paths) {
  const auto waiting = waiting_changes(set_);
  for (const TreePath& path : paths.only) {
    const bool is_there = std::any_of(waiting.begin(), waiting.end(),
                                      [&](size_t place) { return is_meant(path, changes_.changes[place]); });
    if (!is_there)
      return refusal("'" + shown(shown_path(changes_, path.tree, path.path)) +
                         "' is not among the changes that wait in " + set_.header.id,
                     "cloche changes show " + set_.header.id + " lists them");
  }
  std::vector<size_t> named_places;
  for (const size_t place : waiting) {
    const Change& change = changes_.changes[place];
    if (is_named(paths.only, change) || is_named(paths.theirs, change)) named_places.push_back(place);
  }
  for (const size_t place : waiting) {
    const Change& change = changes_.changes[place];
    const bool is_withheld = verdicts_[place].fate == Fate::withheld;
    const bool is_wanted =
        is_withheld ? is_answered(place, named_places) : paths.only.empty() || is_meant(paths.only, change);
    if (is_wanted && !is_meant(paths.ours, change)) chosen_.insert(place);
  }
  choose_parents(waiting);
  return {};
}

// What is withheld, or was never judged, has to be named itself, or with the directory that it was withheld
// with, for the same reason: another directory around it is no answer to it.
bool Applying::is_answered(size_t place, const std::vector<size_t>& named_places) const {
  const auto is_answer = [&](size_t answer) {
    if (answer == place) return true;
    const Change& around = changes_.changes[answer];
    return !is_unjudged_ && verdicts_[answer].fate == Fate::withheld && makes_directory(around) &&
           verdicts_[answer].reason == verdicts_[place].reason &&
           is_meant(around.where(), changes_.changes[place]);
  };
  return std::any_of(named_places.begin(), named_places.end(), is_answer);
}

// A new file comes with the new directories that it is in.
void Applying::choose_parents(const std::vector<size_t>& waiting) {
  std::map<TreePath, size_t> directories;
  for (const size_t place : waiting) {
    const Change& change = changes_.changes[place];
    if (makes_directory(change)) directories[change.where()] = place;
  }
  const std::set<size_t> named = chosen_;
  for (const size_t place : named) {
    for (TreePath at = changes_.changes[place].around(); !at.path.empty();
         at.path.resize(directory_in(at.path).size())) {
      const auto parent = directories.find(at);
      if (parent != directories.end()) chosen_.insert(parent->second);
    }
  }
}

// What was withheld from a commit: since the end of that commit, which changed the project itself.
CallStart Applying::start() const {
  CallStart start = set_.header.start;
  // The two clocks begin anew with each boot.
  if (set_.header.boot != boot_id() || !is_staged()) start.clock_offset_ns = clock_offset_ns();
  if (!is_staged()) {
    start.change_ns = set_.header.ended_ns;
    start.grain = ClockGrain::coarse;  // what is as old as that belongs to the commit
  }
  return start;
}

ChangeSet Applying::chosen_changes() const {
  ChangeSet chosen{.trees = changes_.trees};
  for (const size_t place : chosen_) chosen.changes.push_back(changes_.changes[place]);
  return chosen;
}

Result<void> Applying::find_obstacles(const ApplyPaths& paths) {
  const HeldTrees held = TRY(hold_trees(set_.header.trees));
  const auto layers = held.layers(set_.header.trees, set_.header.attributes);
  std::set<size_t> merged = find_merged(held);
  std::set<TreePath> merged_paths;
  for (const size_t place : merged) merged_paths.insert(changes_.changes[place].where());
  for (const Conflict& conflict : TRY(find_conflicts(layers, chosen_changes(), start()))) {
    const Change at{.tree = conflict.tree, .path = conflict.path};
    if (!is_meant(paths.theirs, at) && !merged_paths.contains({conflict.tree, conflict.path}))
      outcome_.conflicts.push_back({shown_path(changes_, conflict.tree, conflict.path), conflict.what});
  }
  find_conflicts_in_merged(merged_paths, paths, held);
  const std::vector<size_t> all(chosen_.begin(), chosen_.end());
  for (const size_t place : all) {
    const Change& change = changes_.changes[place];
    if (!is_meant(paths.theirs, change) || change.path.empty()) continue;
    if (!TRY(take_theirs(place, held.trees[change.tree].project))) chosen_.erase(place);
    if (change.kind != ChangeKind::created) merged.erase(place);  // it takes the mode of theirs
  }
  forget_merged(merged);
  if (!outcome_.conflicts.empty()) return {};
  outcome_.conflicts = TRY(find_dangers(chosen_changes(), layers, git_, named(paths), Links::judged));
  return {};
}

// Where both made a directory there is one for both. Only what is in it may be a conflict.
std::set<size_t> Applying::find_merged(const HeldTrees& held) const {
  std::set<size_t> merged;
  for (const size_t place : chosen_) {
    const Change& change = changes_.changes[place];
    const bool is_new = change.kind == ChangeKind::created && makes_directory(change);
    if (is_new && open_descendant(held.trees[change.tree].project, change.path, O_PATH | O_DIRECTORY))
      merged.insert(place);
  }
  return merged;
}

// find_conflicts() does not look below what the set itself creates.
void Applying::find_conflicts_in_merged(const std::set<TreePath>& merged, const ApplyPaths& paths,
                                        const HeldTrees& held) {
  for (const size_t place : chosen_) {
    const Change& change = changes_.changes[place];
    if (merged.contains(change.where()) || !merged.contains(change.around())) continue;
    const OwnedFd directory =
        open_descendant(held.trees[change.tree].project, directory_in(change.path), O_PATH | O_DIRECTORY);
    const bool is_free = directory && !look_in(directory.get(), last_of(change.path)) && errno == ENOENT;
    if (!is_free && !is_meant(paths.theirs, change))
      outcome_.conflicts.push_back(
          {shown_path(changes_, change.tree, change.path), std::string(conflict::created)});
  }
}

// The project's directory stays as it is, and is no change of this set.
void Applying::forget_merged(const std::set<size_t>& merged) {
  ChangeSet kept{.trees = changes_.trees};
  std::vector<ChangeVerdict> verdicts;
  std::set<size_t> chosen;
  merged_.trees = changes_.trees;
  for (size_t place = 0; place < changes_.changes.size(); ++place) {
    Change& change = changes_.changes[place];
    if (merged.contains(place)) {
      merged_.changes.push_back(std::move(change));
      continue;
    }
    if (chosen_.contains(place)) chosen.insert(kept.changes.size());
    kept.changes.push_back(std::move(change));
    verdicts.push_back(std::move(verdicts_[place]));
  }
  changes_ = std::move(kept);
  verdicts_ = std::move(verdicts);
  chosen_ = std::move(chosen);
}

// With what comes with it, and with the new directories that it lies in.
std::vector<TreePath> Applying::named(const ApplyPaths& paths) const {
  std::vector<TreePath> named = paths.only;
  named.insert(named.end(), paths.theirs.begin(), paths.theirs.end());
  const size_t count = named.size();
  for (const size_t place : chosen_) {
    const Change& change = changes_.changes[place];
    if (verdicts_[place].fate == Fate::withheld) named.push_back(change.where());
    for (size_t i = 0; i < count && makes_directory(change); ++i)
      if (named[i].tree == change.tree && lies_below(change.path, named[i].path))
        named.push_back(change.where());
  }
  return named;
}

// The change as one of what the project has by now. False: there is nothing left to change.
Result<bool> Applying::take_theirs(size_t place, int project) {
  Change& change = changes_.changes[place];
  const OwnedFd directory = open_descendant(project, directory_in(change.path), O_PATH | O_DIRECTORY);
  const std::string name = last_of(change.path);
  const auto seen = directory ? look_in(directory.get(), name) : std::nullopt;
  if (!seen) {
    change.before.reset();
    change.kind = ChangeKind::created;
    change.differs = {};
    return change.after.has_value();
  }
  FileState now = state_of(*seen);
  if (now.kind == FileKind::directory) {
    const bool is_merged = change.kind == ChangeKind::created && makes_directory(change);
    const FileState& after = is_merged ? *change.after : now;
    // Of one with other things in it the commit's own check says so.
    if (now.mode == after.mode && now.uid == after.uid && now.gid == after.gid) return true;
    change.before = now;
    change.kind = ChangeKind::changed;
    change.differs.mode = now.mode != after.mode;
    change.differs.owner = now.uid != after.uid || now.gid != after.gid;
    return true;
  }
  if (now.kind == FileKind::link) now.link = link_text(directory.get(), name);
  change.before = now;
  change.kind = change.after ? ChangeKind::changed : ChangeKind::deleted;
  if (change.after) {
    change.differs.kind = now.kind != change.after->kind;
    change.differs.contents = true;
    change.differs.mode = now.mode != change.after->mode;
  }
  return true;
}

void Applying::list_waiting(const StoredSet& now) {
  outcome_.waiting = paths_at(now.changes, now.verdicts, waiting_changes(now));
}

Result<OperatorOutcome> Applying::nothing() {
  if (is_unjudged_)
    outcome_.reasons.emplace_back(
        "what the call wrote could not be read or judged whole: name each path (--only PATH)");
  list_waiting(set_);
  return std::move(outcome_);
}

Result<OperatorOutcome> Applying::commit_staged(const ApplyPaths& paths) {
  std::vector<ChangeVerdict> verdicts = verdicts_;
  for (size_t i = 0; i < verdicts.size(); ++i) {
    if (chosen_.contains(i)) {
      verdicts[i] = {.fate = Fate::committed};
    } else if (is_meant(paths.ours, changes_.changes[i])) {
      verdicts[i] = {.fate = Fate::withheld, .reason = ours_kept};
    } else if (verdicts[i].fate == Fate::committed) {
      verdicts[i] = {.fate = Fate::asked, .reason = not_applied};
    }
  }
  const auto committed = sets_.commit(work_, changes_, verdicts, {.sync = set_.header.sync});
  const auto stage_as_it_was = [&] { return sets_.stage(work_, set_.changes, set_.verdicts); };
  if (!TRY(came_to_its_end(committed, outcome_, stage_as_it_was))) return std::move(outcome_);
  outcome_.made = set_.header.id;
  list_waiting(TRY(sets_.find(set_.header.id)));
  return std::move(outcome_);
}

Result<OperatorOutcome> Applying::commit_rest() {
  SetHeader header{
      .id = "a-" + TRY(random_word(12)), .sync = set_.header.sync, .workspace = set_.header.workspace};
  header.label = set_.header.label;
  header.start = set_.header.start;
  header.attributes = set_.header.attributes;
  header.trees = set_.header.trees;
  SetInWork fresh = TRY(sets_.begin(std::move(header)));
  const ChangeSet chosen = chosen_changes();
  const std::vector<ChangeVerdict> verdicts(chosen.changes.size(), {.fate = Fate::committed});
  const auto committed = sets_.commit(fresh, chosen, verdicts, {.sync = set_.header.sync});
  const auto discard = [&]() -> Result<void> {
    sets_.discard(fresh);
    return {};
  };
  if (!TRY(came_to_its_end(committed, outcome_, discard))) return std::move(outcome_);
  TRY(sets_.forget(work_, chosen));
  if (!merged_.changes.empty()) TRY(sets_.forget(work_, merged_));
  outcome_.made = fresh.header.id;
  list_waiting(TRY(sets_.find(set_.header.id)));
  return std::move(outcome_);
}

}  // namespace

Result<OperatorOutcome> StoredChanges::apply(const std::string& id, const ApplyPaths& paths,
                                             const ChangeRules& rules) const {
  SetInWork work = TRY(sets_.work_on(id));
  StoredSet set = TRY(sets_.find(id));
  const SetStatus status = set.header.status;
  if (status != SetStatus::staged && status != SetStatus::committed)
    return refusal("the change set " + id + " is " + std::string(name_of(status)) + ": nothing waits in it");
  TRY(check_places(set.header));
  if (set.changes.trees.size() != set.header.trees.size())
    return refusal("the change set " + id + " is damaged");
  TRY(judge_now(work, set, rules));
  return Applying(state_, git_, sets_, std::move(work), std::move(set)).run(paths);
}

}  // namespace cloche
