#include "gateway/changes/stored_changes.hpp"

#include <algorithm>
#include <set>

#include "base/text/random_word.hpp"
#include "base/text/visible_text.hpp"
#include "gateway/changes/judge_set.hpp"
#include "store/commit/commit_lock.hpp"

namespace cloche {
namespace {

OperatorOutcome about(const SetHeader& header) { return {.set = header.id, .label = header.label}; }

// What undos of this workspace put into the project.
std::set<Placed> placed_by_undos(const ChangeSets& sets, const KnownDirectory& workspace) {
  std::set<Placed> placed;
  for (const SetHeader& header : sets.list(workspace)) {
    if (header.undoes.empty()) continue;
    const auto undo = sets.find(header.id);
    if (!undo.ok()) continue;
    for (const Step& step : undo.value().steps) placed.insert(step.placed);
  }
  return placed;
}

// A path that a call left alone may have become one that the host executes by what later calls did.
Result<std::vector<ConflictingPath>> dangers_of_undo(const UndoPlan& plan, const GitSources& git,
                                                     const std::vector<TreePath>& named) {
  const HeldTrees held = TRY(hold_trees(plan.trees));
  auto layers = held.layers(plan.trees, {});
  for (size_t i = 0; i < layers.size(); ++i)
    layers[i].place_of = [&plan, i](const std::string& path) { return plan.source_of(i, path); };
  // What goes is what the call itself had made, and goes with the operator's word.
  std::vector<TreePath> answered = named;
  for (const Change& change : plan.changes.changes)
    if (!change.after) answered.push_back(change.where());
  return find_dangers(plan.changes, layers, git, answered, Links::as_they_were);
}

// Of an undo that was planned and is to be done.
Result<OperatorOutcome> commit_undo(const ChangeSets& sets, const StoredSet& set, UndoPlan& plan,
                                    OperatorOutcome outcome) {
  SetHeader header{
      .id = "u-" + TRY(random_word(12)), .sync = set.header.sync, .workspace = set.header.workspace};
  header.label = set.header.label;
  header.undoes = set.header.id;
  header.trees = plan.trees;
  SetInWork work = TRY(sets.begin(std::move(header)));
  const auto committed =
      sets.commit(work, plan.changes, plan.verdicts, std::move(plan.planned), {.sync = work.header.sync});
  const bool is_done = TRY(came_to_its_end(committed, outcome, [&]() -> Result<void> {
    sets.discard(work);
    return {};
  }));
  if (!is_done) return outcome;
  TRY(sets.record_undone(set.header.id, plan.changes));
  outcome.made = work.header.id;
  return outcome;
}

}  // namespace

Result<bool> came_to_its_end(const Result<Committed>& committed, OperatorOutcome& outcome,
                             const std::function<Result<void>()>& give_up) {
  const CommitEnd end = committed.ok() ? committed.value().end : CommitEnd::refused;
  outcome.end = end == CommitEnd::committed ? OperatorEnd::done
                : end == CommitEnd::stuck   ? OperatorEnd::stuck
                                            : OperatorEnd::conflict;
  if (outcome.end == OperatorEnd::conflict) TRY(give_up());
  if (!committed.ok()) return committed.error();
  outcome.reasons = committed.value().reasons;
  return outcome.end == OperatorEnd::done;
}

std::vector<ChangedPath> paths_at(const ChangeSet& changes, const std::vector<ChangeVerdict>& verdicts,
                                  const std::vector<size_t>& places) {
  const auto all = changed_paths(changes, verdicts);
  std::vector<ChangedPath> paths;
  for (const size_t place : places) paths.push_back(all[place]);
  return paths;
}

std::vector<size_t> waiting_changes(const StoredSet& set) {
  std::vector<size_t> places;
  const bool is_staged = set.header.status == SetStatus::staged;
  if (!is_staged && set.header.status != SetStatus::committed) return places;
  for (size_t i = 0; i < set.changes.changes.size(); ++i) {
    const bool is_committed = i < set.verdicts.size() && set.verdicts[i].fate == Fate::committed;
    if (is_staged || !is_committed) places.push_back(i);
  }
  return places;
}

bool is_unjudged(const StoredSet& set) {
  return set.header.status == SetStatus::staged && set.verdicts.empty();
}

Result<void> check_places(const SetHeader& set) {
  const auto check = [&](const KnownDirectory& directory) -> Result<void> {
    const auto now = know_directory(directory.path);
    if (now.ok() && is_same_directory(now.value(), directory)) return {};
    return refusal("the directory " + shown(directory.path) + " of the change set " + set.id +
                       " is gone, or another one has its place",
                   "nothing was changed; if it was renamed, run this in it; cloche changes drop " + set.id +
                       " throws the set away");
  };
  TRY(check(set.workspace));
  for (const StoredTree& tree : set.trees) TRY(check(tree.project));
  return {};
}

Result<std::vector<ConflictingPath>> find_dangers(const ChangeSet& changes,
                                                  const std::vector<TreeLayers>& layers,
                                                  const GitSources& git, const std::vector<TreePath>& named,
                                                  Links links) {
  const std::set<TreePath> answered(named.begin(), named.end());
  const ChangeFacts facts = TRY(look_around_changes(changes, layers, git));
  const auto dangers = dangers_of(changes, facts, {});
  std::vector<ConflictingPath> found;
  for (const size_t place :
       links == Links::judged ? redirected_links(changes, facts, {}) : std::vector<size_t>()) {
    const Change& change = changes.changes[place];
    if (!answered.contains(change.where()))
      found.push_back({shown_path(changes, change.tree, change.path),
                       "is a link that leads out of the directories of the call by now (name this path "
                       "itself to bring it in)"});
  }
  for (size_t i = 0; i < dangers.size(); ++i) {
    const Change& change = changes.changes[i];
    if (dangers[i] && !answered.contains(change.where()))
      found.push_back(
          {shown_path(changes, change.tree, change.path),
           "would be executed by the host: " + *dangers[i] + " (name this path itself to bring it in)"});
  }
  return found;
}

bool may_be_finished(const StoredSet& set, const GitSources& git) {
  if (!set.header.undoes.empty()) return true;  // it puts back what was there
  const auto held = hold_trees(set.header.trees);
  if (!held.ok()) return false;
  ChangeSet coming{.trees = set.changes.trees};
  for (size_t i = 0; i < set.changes.changes.size(); ++i)
    if (i < set.verdicts.size() && set.verdicts[i].fate == Fate::committed)
      coming.changes.push_back(set.changes.changes[i]);
  const auto layers = held.value().layers(set.header.trees, set.header.attributes);
  const auto dangers = find_dangers(coming, layers, git, {}, Links::as_they_were);
  return dangers.ok() && dangers.value().empty();
}

std::vector<Recovered> StoredChanges::recover() const {
  return sets_.recover([&](const StoredSet& set) { return may_be_finished(set, git_); });
}

Result<OperatorOutcome> StoredChanges::undo(const std::string& id, const std::vector<TreePath>& paths,
                                            Rehearsal rehearsal) const {
  const StoredSet seen = TRY(sets_.find(id));
  TRY(check_places(seen.header));
  const auto lock = TRY(lock_commits(state_, seen.changes.trees));
  const StoredSet set = TRY(sets_.find(id));  // as it is now that no other process changes it
  OperatorOutcome outcome = about(set.header);
  if (set.header.status == SetStatus::undone) {
    outcome.reasons.emplace_back("it was taken back already");
    return outcome;
  }
  UndoPlan plan = TRY(plan_undo(set, paths, placed_by_undos(sets_, set.header.workspace)));
  outcome.paths = changed_paths(plan.changes, plan.verdicts);
  if (outcome.paths.empty()) return outcome;
  for (const Conflict& conflict : plan.conflicts)
    outcome.conflicts.push_back({shown_path(set.changes, conflict.tree, conflict.path), conflict.what});
  if (outcome.conflicts.empty()) outcome.conflicts = TRY(dangers_of_undo(plan, git_, paths));
  outcome.end = outcome.conflicts.empty() ? OperatorEnd::done : OperatorEnd::conflict;
  if (outcome.end == OperatorEnd::conflict || rehearsal == Rehearsal::dry_run) return outcome;
  return commit_undo(sets_, set, plan, std::move(outcome));
}

Result<void> StoredChanges::judge_now(SetInWork& work, StoredSet& set, const ChangeRules& rules) const {
  if (!is_unjudged(set)) return {};
  const HeldTrees held = TRY(hold_trees(set.header.trees));
  const auto layers = held.layers(set.header.trees, set.header.attributes);
  constexpr uint64_t all = ~uint64_t{0};
  const ReadChanges read =
      TRY(read_changes(layers, {.entries = all, .depth = ~0U, .compared_bytes = all, .until_ms = all}));
  std::vector<ChangeVerdict> verdicts;
  if (read.is_exact()) verdicts = TRY(judge_set(read.set, layers, git_, rules)).verdicts;
  TRY(close_directories(layers, read.set));
  TRY(sets_.list_anew(work, read.set, verdicts));
  set = TRY(sets_.find(set.header.id));
  return {};
}

Result<OperatorOutcome> StoredChanges::drop(const std::string& id, const std::vector<TreePath>& only,
                                            const ChangeRules& rules) const {
  SetInWork work = TRY(sets_.work_on(id));
  StoredSet set = TRY(sets_.find(id));
  if (!only.empty()) TRY(judge_now(work, set, rules));
  OperatorOutcome outcome = about(set.header);
  const auto waiting = waiting_changes(set);
  std::vector<size_t> dropped;
  std::vector<size_t> kept;
  ChangeSet forgotten{.trees = set.changes.trees};
  for (const size_t place : waiting) {
    const Change& change = set.changes.changes[place];
    const bool goes = only.empty() || is_meant(only, change);
    (goes ? dropped : kept).push_back(place);
    if (goes) forgotten.changes.push_back(change);
  }
  outcome.paths = paths_at(set.changes, set.verdicts, dropped);
  outcome.waiting = paths_at(set.changes, set.verdicts, kept);
  // One that is open or in use, though its call is gone, could not be recovered: it can still go.
  const bool is_staged = set.header.status == SetStatus::staged ||
                         set.header.status == SetStatus::continued || set.header.status == SetStatus::open;
  if (dropped.empty() && !(is_staged && only.empty())) return outcome;
  outcome.end = OperatorEnd::done;
  if (!is_staged || !kept.empty()) {
    TRY(sets_.forget(work, forgotten));
    return outcome;
  }
  work.lock.reset();  // which the drop takes itself
  TRY(sets_.drop(id));
  return outcome;
}

}  // namespace cloche
