// What the root directory of an OCI bundle holds, beside its config.json (confine/boxes/oci.hpp). Pure.
#pragma once

#include <string>
#include <vector>

#include "model/plan.hpp"

namespace cloche {

// Whose kernel the command sees: the host's own (crun, runc), or gVisor's (runsc), which knows fewer options
// and has no Landlock.
enum class BoxKernel { hosts, gvisor };

// What lies in the root directory: what the view has of its own, and a place for each mount. Parents before
// children. gVisor's gofer mounts the trees there alone, without the memory that some of them lie in, and by
// an id that can make nothing there.
struct RootfsEntry {
  enum class Kind { directory, file, link };
  Kind kind = Kind::directory;
  std::string path;          // absolute, in the root directory
  std::string content = {};  // of a file, where it has any; of a link what it says
  unsigned mode = 0755;
};
std::vector<RootfsEntry> rootfs_entries(const ConfinementPlan& plan, BoxKernel kernel);

// The texts that the root directory does not hold: each is bound from a file of its own.
std::vector<size_t> texts_beside_rootfs(const ConfinementPlan& plan);

// Memory that cannot be written holds what we put there and no more: so the root directory holds it, which is
// read-only as well.
bool is_part_of_root(const ViewEntry& entry);
bool lies_in_root(const ConfinementPlan& plan, const ViewEntry& entry);
bool lies_in_proc(const ConfinementPlan& plan, const ViewEntry& entry);

}  // namespace cloche
