// A look at the host before a box is started: whether each mount point in a tree of the operator's is there.
// Bubblewrap and the runtimes make what is missing, among the operator's own files.
#pragma once

#include "base/result.hpp"
#include "model/plan.hpp"

namespace cloche {

// Refuses, about the mount view, where one is missing or is another kind of file.
Result<void> check_mount_points(const ConfinementPlan& plan);

}  // namespace cloche
