// The paths that the calls of a task have brought into the project, for rules that count per task. Nothing is
// kept where no rule does.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/change_set.hpp"

namespace cloche {

inline constexpr const char* task_changes_name = "task-changes";  // a directory in the state directory

class TaskChanges {
 public:
  // A task without a name has no earlier calls.
  TaskChanges(const std::string& state, const std::string& task);

  // Of each: tree, path and kind. An Error: they cannot be known, and so not be counted.
  Result<ChangeSet> read() const;
  // What the verdicts let through. Before the commit: what a call that is killed may have brought in counts.
  Result<void> add(const ChangeSet& set, const std::vector<ChangeVerdict>& verdicts) const;

 private:
  std::string file_;  // empty: none
};

}  // namespace cloche
