// Undo: the steps that take back a committed change set, or some paths of it. They are an ordinary commit,
// whose source is what the first one kept; so an undo is checked, recorded, recovered and undone like any
// other.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "store/commit/change_sets.hpp"

namespace cloche {

struct UndoPath {
  size_t tree = 0;
  std::string path = {};  // with everything beneath it
};

struct UndoConflict {
  size_t tree = 0;
  std::string path = {};
  std::string reason = {};
};

struct UndoPlan {
  ChangeSet changes = {};                    // what the undo will do: to be judged like any other
  std::vector<ChangeVerdict> verdicts = {};  // all committed
  CommitSteps planned = {};
  std::vector<StoredTree> trees = {};  // their sources are set; the caller gives each a new undo directory
  // Paths where something else stands by now than the commit put there. One of them: nothing is to be done.
  std::vector<UndoConflict> conflicts = {};

  // Where the source of a tree has what will be at the path.
  std::string source_of(size_t tree, const std::string& path) const;
};

// Whether another undo put exactly this there: a file that a later set had replaced came back that way, with
// a new ctime. Empty: none did.
using PlacedByUndo = std::function<bool(const Placed&)>;

// No paths: everything that was committed. An Error: the set cannot be undone, or a path is not in it.
Result<UndoPlan> plan_undo(const StoredSet& set, const std::vector<UndoPath>& paths,
                           const PlacedByUndo& placed_by_undo = {});

}  // namespace cloche
