// Recovery of change sets whose process is gone.
#include <algorithm>

#include "base/sys/directory.hpp"
#include "store/commit/change_sets.hpp"
#include "store/commit/commit_lock.hpp"
#include "store/commit/entry_copy.hpp"
#include "store/layers/layer_reader.hpp"

namespace cloche {
namespace {

std::vector<ChangedTree> trees_of(const SetHeader& header) {
  std::vector<ChangedTree> trees;
  for (const StoredTree& tree : header.trees)
    trees.push_back({tree.project.path, tree.project.device, tree.project.inode});
  return trees;
}

}  // namespace

std::vector<Recovered> ChangeSets::recover(const IsAllowed& is_allowed) const {
  std::vector<Recovered> answer;
  for (const SetHeader& header : list()) {
    const bool is_left = is_in_work(header.status) || is_marked(header.id) || has_commit_directory(header);
    if (!is_left) continue;
    auto recovered = recover_one(header, is_allowed);
    if (recovered) answer.push_back(std::move(*recovered));
  }
  return answer;
}

void ChangeSets::recover_interrupted(const IsAllowed& is_allowed) const {
  for (const auto& name : names_in(marks_)) {
    const auto header = read_header(directory_of(name));
    if (header.ok()) (void)recover_one(header.value(), is_allowed);
  }
}

// Nothing: a process works on it, or another one has recovered it meanwhile.
std::optional<Recovered> ChangeSets::recover_one(const SetHeader& seen, const IsAllowed& is_allowed) const {
  if (!is_in_work(seen.status)) {
    (void)recover_end(seen);
    return std::nullopt;
  }
  auto locked = work_on(seen.id);
  if (!locked.ok()) return std::nullopt;
  SetInWork set = std::move(locked).value();
  Recovered answer{.id = seen.id, .status = set.header.status};
  Result<void> done;
  if (set.header.status == SetStatus::open) {
    // Nothing of it has reached the project, and what the call would still have done is unknown.
    const auto removed = remove_commit_directories(set.header);
    done = removed.ok() || !has_commit_directory(set.header) ? drop_held(set) : removed;
  } else if (set.header.status == SetStatus::committing) {
    done = recover_commit(set, is_allowed, answer);
  } else if (set.header.status == SetStatus::continued) {
    done = recover_continued(set);
  } else {
    return std::nullopt;
  }
  answer.status = set.header.status;
  if (!done.ok()) answer.reasons.push_back(done.error().what);
  return answer;
}

// Only its last step was left: what it keeps may still be in the project. Where that cannot be opened, as on
// a disk that is not mounted, the mark stays.
Result<void> ChangeSets::recover_end(const SetHeader& seen) const {
  std::vector<OwnedFd> lock;  // before that of the set, which an undo takes under this one
  if (has_commit_directory(seen)) lock = TRY(lock_commits(state_, trees_of(seen)));
  SetInWork set = TRY(work_on(seen.id));
  const SetStatus status = set.header.status;
  if (is_in_work(status) || has_commit_directory(set.header) != has_commit_directory(seen)) return {};
  if (has_commit_directory(seen)) {
    for (const StoredTree& tree : set.header.trees) TRY(open_known(tree.project));
    const auto end = status == SetStatus::staged ? CommitEnd::taken_back : CommitEnd::committed;
    (void)leave_project(set, {.end = end});
    (void)remove_commit_directories(set.header);
  }
  mark(set.header.id, status);
  return {};
}

// The call that wrote to its layers is gone, and they are not what the list says. A process that it gave a
// descriptor may still write to them: what is read is a copy, which none has.
Result<void> ChangeSets::recover_continued(SetInWork& set) const {
  TRY(hold_trees(set.header.trees));
  const std::vector<StoredTree> old = set.header.trees;
  for (StoredTree& tree : set.header.trees) tree.source = TRY(copy_layer(tree.source));
  set.header.why = "a call that went on from it was killed";
  TRY(write_header(set.header));
  for (const StoredTree& tree : old) remove_old_layer(tree.source);
  const HeldTrees held = TRY(hold_trees(set.header.trees));
  const auto layers = held.layers(set.header.trees, set.header.attributes);
  const ReadChanges read = TRY(read_changes(layers, {}));
  TRY(close_directories(layers, read.set));
  TRY(list_anew(set, read.set, {}));
  return set_status(set, SetStatus::staged);
}

Result<void> ChangeSets::recover_commit(SetInWork& set, const IsAllowed& is_allowed,
                                        Recovered& answer) const {
  if (set.header.boot != boot_ && set.header.sync == FileSync::later)
    return refusal(
        "it was begun before the host was started anew, and was not synced: its files may be empty");
  const auto lock = TRY(lock_commits(state_, trees_of(set.header)));
  StoredSet stored = TRY(find(set.header.id));
  const HeldTrees held = TRY(hold_trees(set.header.trees));
  const CommitOptions options{.sync = set.header.sync};
  const bool is_wanted = is_allowed && is_allowed(stored);
  const auto finish = is_wanted ? resume_commit : take_back_commit;
  const Committed committed = TRY(finish(held.trees, std::move(stored.steps), options));
  answer.reasons = committed.reasons;
  if (committed.end == CommitEnd::taken_back && !committed.reasons.empty())
    set.header.why = "its commit was interrupted, and taken back: " + committed.reasons.front().text();
  return record_end(set, committed);
}

}  // namespace cloche
