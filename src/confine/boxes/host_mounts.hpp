// A look at the host before a box is started: whether each mount point in a tree of the operator's is there,
// and what the mounts that the trees of a plan lie in forbid already.
#pragma once

#include <map>
#include <string>

#include "base/result.hpp"
#include "model/plan.hpp"

namespace cloche {

// Bubblewrap and the runtimes make a missing mount point, among the operator's own files. Refuses, about the
// mount view, where one is missing or is another kind of file.
Result<void> check_mount_points(const ConfinementPlan& plan);

// Of a workspace on a disk that runs nothing, or that is read-only. A program that mounts a tree again in a
// user namespace of its own has to say these words too: there the kernel lets no process take them back, and
// refuses the whole mount.
struct SourceMount {
  bool read_only = false;
  bool runs_nothing = false;
};

// By the source of a tree; one that forbids neither need not be there. That no mount of ours follows set-id
// bits or devices every box says by itself.
using SourceMounts = std::map<std::string, SourceMount>;

SourceMounts look_at_source_mounts(const ConfinementPlan& plan);

}  // namespace cloche
