// What the mounts that the trees of a plan lie in forbid already: a workspace on a disk that runs nothing, or
// that is read-only. A program that mounts a tree again in a user namespace of its own has to say these words
// too: there the kernel lets no process take them back, and refuses the whole mount.
#pragma once

#include <map>
#include <string>

#include "model/plan.hpp"

namespace cloche {

struct SourceMount {
  bool read_only = false;
  bool runs_nothing = false;
};

// By the source of a tree; one that forbids neither need not be there. That no mount of ours follows set-id
// bits or devices every box says by itself.
using SourceMounts = std::map<std::string, SourceMount>;

SourceMounts look_at_source_mounts(const ConfinementPlan& plan);

}  // namespace cloche
