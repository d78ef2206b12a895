// Recovery of change sets whose process is gone.
#include <algorithm>

#include "base/sys/directory.hpp"
#include "store/commit/change_sets.hpp"
#include "store/commit/commit_lock.hpp"

namespace cloche {

std::vector<Recovered> ChangeSets::recover(const IsAllowed& is_allowed) const {
  std::vector<Recovered> answer;
  for (const SetHeader& header : list()) {
    if (header.status != SetStatus::open && header.status != SetStatus::committing) continue;
    auto recovered = recover_one(header, is_allowed);
    if (recovered) answer.push_back(std::move(*recovered));
  }
  return answer;
}

void ChangeSets::recover_interrupted() const {
  for (const auto& name : names_in(marks_)) {
    const auto header = read_header(directory_of(name));
    if (header.ok()) (void)recover_one(header.value(), {});
  }
}

// Nothing: a process works on it, or another one has recovered it meanwhile.
std::optional<Recovered> ChangeSets::recover_one(const SetHeader& seen, const IsAllowed& is_allowed) const {
  auto locked = work_on(seen.id);
  if (!locked.ok()) return std::nullopt;
  SetInWork set = std::move(locked).value();
  Recovered answer{.id = seen.id, .status = set.header.status};
  Result<void> done;
  if (set.header.status == SetStatus::open) {
    // Nothing of it has reached the project, and what the call would still have done is unknown.
    done = set_status(set, SetStatus::dropped);
    if (done.ok()) done = drop_held(seen.id);
  } else if (set.header.status == SetStatus::committing) {
    done = recover_commit(set, is_allowed, answer);
  } else {
    return std::nullopt;
  }
  answer.status = set.header.status;
  if (!done.ok()) answer.reasons.push_back(done.error().what);
  return answer;
}

Result<void> ChangeSets::recover_commit(SetInWork& set, const IsAllowed& is_allowed,
                                        Recovered& answer) const {
  if (set.header.boot != boot_ && set.header.sync == FileSync::later)
    return refusal(
        "it was begun before the host was started anew, and was not synced: its files may be empty");
  std::vector<ChangedTree> trees;
  for (const StoredTree& tree : set.header.trees)
    trees.push_back({tree.project.path, tree.project.device, tree.project.inode});
  const auto lock = TRY(lock_commits(state_, trees));
  StoredSet stored = TRY(find(set.header.id));
  const HeldTrees held = TRY(hold_trees(set.header.trees));
  const CommitOptions options{.sync = set.header.sync};
  const bool is_wanted = !is_allowed || is_allowed(stored);
  const auto finish = is_wanted ? resume_commit : take_back_commit;
  const Committed committed = TRY(finish(held.trees, std::move(stored.steps), options));
  answer.reasons = committed.reasons;
  return record_end(set, committed);
}

}  // namespace cloche
