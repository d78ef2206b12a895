// A plan for a process without a box: the isolation level `subprocess`, which needs no namespace and so works
// where none can be had. What of the plan's view lies where the host has it is said to Landlock; what would
// be mounted elsewhere is not offered, and named. Home and /tmp are directories of a scratch place that the
// call owns. There is no network at all: the filter knows no sockets with an address.
//
// The backend `none`, the operator's opt-out, starts the same way with nothing held. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "confine/launch.hpp"
#include "model/plan.hpp"

namespace cloche {

struct SubprocessParts {
  std::string jail;     // cloche-jail on the host
  std::string scratch;  // a directory of the call's own; home/, tmp/ and files/ lie in it
  std::vector<std::string> as_on_host = {};  // texts of the view that the host has a file of its own for
  // Processes of the same user, which the kernel counts along where no cgroup counts.
  std::optional<uint64_t> others = {};
  std::string callers_home = {};  // for `none`
};

// What the plan needs and no process without a box can have. `abi` is the kernel's Landlock.
std::vector<MissingLayer> subprocess_missing(const ConfinementPlan& plan, const HostProbe& probe);

// What has to lie in the scratch place before the start.
struct ScratchEntry {
  std::string path;
  bool directory = false;
  std::string content = {};
};
std::vector<ScratchEntry> scratch_entries(const ConfinementPlan& plan, const SubprocessParts& parts);

LaunchSpec render_subprocess(const ConfinementPlan& plan, const HostProbe& probe,
                             const CallResources& resources, const SubprocessParts& parts);
LaunchSpec render_open(const ConfinementPlan& plan, const CallResources& resources,
                       const SubprocessParts& parts);

}  // namespace cloche
