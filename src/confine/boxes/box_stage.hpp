// A plan for a box that bubblewrap or an OCI runtime builds from a stage (jail/boxes/box_keeper.hpp): the
// same words that `cloche wrap` prints, with each tree's source replaced by the checked clone that the keeper
// has put into /tmp of the runner's own mount namespace. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "confine/boxes/host_mounts.hpp"
#include "confine/launch.hpp"
#include "model/backend.hpp"
#include "model/plan.hpp"

namespace cloche {

struct StagedParts {
  std::string jail;                                  // cloche-jail on the host
  std::string program;                               // bwrap or the runtime, by its path
  std::map<uint32_t, uint64_t> highest_limits = {};  // by RLIMIT_*: what we may not exceed ourselves
  // What a runtime calls the box. No other call's: gVisor listens on an abstract socket of this name, which
  // all of a host share, and a second box of the same name ends the first.
  std::string name;
  SourceMounts mounts = {};                      // what the trees' own mounts forbid already
  std::optional<CallResources::Ready> etc = {};  // the curated /etc, ready-made
};

// What the plan requires and this backend cannot keep.
std::vector<MissingLayer> staged_missing(Backend backend, const ConfinementPlan& plan,
                                         const HostProbe& probe);

// Refused where the box's own tool cannot be told what was judged.
Result<LaunchSpec> render_staged(Backend backend, const ConfinementPlan& judged, const HostProbe& probe,
                                 const CallResources& resources, const StagedParts& parts);

}  // namespace cloche
