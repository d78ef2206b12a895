// Undo: the steps that take back a committed change set, or some paths of it. They are an ordinary commit,
// whose source is what the first one kept; so an undo is checked, recorded, recovered and undone like any
// other.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "store/commit/change_sets.hpp"
#include "store/layers/conflicts.hpp"

namespace cloche {

struct UndoPlan {
  ChangeSet changes = {};                    // what the undo will do: to be judged like any other
  std::vector<ChangeVerdict> verdicts = {};  // all committed
  CommitSteps planned = {};
  std::vector<StoredTree> trees = {};  // their sources are set; the caller gives each a new undo directory
  // Paths where something else stands by now than the commit put there. One of them: nothing is to be done.
  std::vector<Conflict> conflicts = {};

  // Where the source of a tree has what will be at the path.
  std::string source_of(size_t tree, const std::string& path) const;
};

// The paths are meant with everything beneath them; none: everything that was committed. An Error: the set
// cannot be undone, or a path is not in it. `placed_by_undos`: what other undos put there. A file that a
// later set had replaced came back that way, with a new ctime.
Result<UndoPlan> plan_undo(const StoredSet& set, const std::vector<TreePath>& paths,
                           const std::set<Placed>& placed_by_undos = {});

}  // namespace cloche
