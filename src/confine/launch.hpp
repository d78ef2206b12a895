// LaunchSpec: what the supervisor executes, as data. render() is pure; only the supervisor turns it into a
// process.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "confine/landlock_support.hpp"
#include "confine/native/cgroup.hpp"
#include "jail/core/wire_encode.hpp"
#include "model/backend.hpp"
#include "model/plan.hpp"

namespace cloche {

// What a host offers a plan, found out by asking the kernel.
struct HostProbe {
  int landlock_abi = 0;
  bool has_filter = false;
  bool user_namespaces = false;
  std::string user_namespaces_fix;
};

// What differs from call to call and is no part of the judged plan.
struct CallResources {
  bool privileged = false;
  unsigned outside_uid = 0;
  unsigned outside_gid = 0;
  CountedBy memory_by = CountedBy::watched;
  wire::Identity directory = {};  // that the command starts in, as it was judged
  // The still part of the view, ready-made; without it the jail builds it piece by piece.
  struct Ready {
    std::string directory;
    uint64_t device = 0;
    uint64_t inode = 0;
  };
  struct Skeleton {
    Ready root;
    std::optional<Ready> etc;  // none where /etc is the host's own
    bool has_devices = false;
  };
  std::optional<Skeleton> skeleton;
  // Where the writes to each layered tree go, by its target.
  std::map<std::string, Ready> layers = {};
};

struct LaunchSpec {
  Backend backend = Backend::native;
  wire::PlanText jail;
  // The plan with the paths that it really runs with, where the backend has no view of its own.
  std::optional<ConfinementPlan> as_run = {};
  // By the target of each layered tree: where what the command writes there really lies.
  std::map<std::string, std::string> upper_directories = {};
  bool by_descendants =
      false;  // no pid namespace to look into: the call's processes are what its keeper has started
  std::vector<Layer> layers = {};  // what will hold when the jail reports that the command has started
  bool pooled = false;             // in a sandbox that waited for it
};

// Those of Landlock, by what the kernel offers at the plan's level.
void add_landlock(std::vector<Layer>& layers, const ConfinementPlan& plan, const HostProbe& probe);
// What a box offers, without what the plan shares with the host.
void leave_out_shared(std::vector<Layer>& layers, const ConfinementPlan& plan);

// Required minus offered. Empty means that the plan can be kept here.
std::vector<MissingLayer> missing_layers(const ConfinementPlan& plan, const HostProbe& probe);

// Whether a skeleton has it whole (store/host/skeleton.hpp), and not only its mount point.
bool is_still(const ViewEntry& entry);
// One entry of a view as the jail is told of it. `existing`: its place is there, and nothing is made for it.
wire::MountText mount_for(const ViewEntry& entry, bool existing, const CallResources& resources);

LaunchSpec render(const ConfinementPlan& plan, const HostProbe& probe, const CallResources& resources);

}  // namespace cloche
