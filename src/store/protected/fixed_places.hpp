// The fixed places of a tree that a command writes to without a layer: the top of the tree, the git directory
// that it has there, and what configurations of git and links in the operator's home name in it. Members of
// the protected set there are shown read-only, and what is new there is taken away when the command has
// ended. Nothing else of the tree is read: what it costs does not go with the size of the tree.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "model/change_set.hpp"
#include "model/facts.hpp"
#include "model/run_request.hpp"

namespace cloche {

// Before the command: what is there, and which of it is to be shown read-only. Held open, so that a mount
// shows what was looked at.
Result<void> observe_fixed_places(const RunRequest& request, Observation& seen);

// Once more, with the root open. What was shown read-only then and is still there is not looked into.
FixedTree look_at_fixed_places(int root, const FixedTree& before, const GitSources& git);

// Makes one of them again that is gone, as it was.
Result<void> put_back(int root, const FixedPlace& place);

// What differs, as a change set of all trees; both have the same trees.
ChangeSet changes_between(const std::vector<FixedTree>& before, const std::vector<FixedTree>& after);

}  // namespace cloche
