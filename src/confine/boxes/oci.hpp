// A plan as a bundle of the OCI runtime specification 1.0.2, for crun, runc and runsc: config.json, and what
// the root directory beside it holds. The runtime builds the box; limits, Landlock and the filter are said to
// `cloche-jail --inner`, the process that it starts. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "confine/boxes/box_parts.hpp"
#include "confine/boxes/host_mounts.hpp"
#include "confine/boxes/oci_rootfs.hpp"
#include "model/layers.hpp"
#include "model/plan.hpp"

namespace cloche {

struct IdMapping {
  unsigned inside = 0;
  unsigned outside = 0;
  unsigned count = 1;
};

// As many as its language sees fit; a group counts them along with the command, whose own processes the jail
// limits by RLIMIT_NPROC, in a user namespace that no other process is in.
inline constexpr uint64_t runtime_threads = 256;

struct OciOptions {
  BoxParts parts;
  BoxKernel kernel = BoxKernel::hosts;
  std::vector<IdMapping> uids = {};  // none: no user namespace but the runtime's own
  std::vector<IdMapping> gids = {};
  // Whom the process is inside; without it whom the plan says. A runtime that was started by an ordinary user
  // can map one id alone, and needs root to be that one.
  std::optional<unsigned> inside_uid = {};
  std::optional<unsigned> inside_gid = {};
  std::optional<std::string> report = {};  // on the host: the file that --inner leaves its reports in
  SourceMounts mounts = {};                // what the trees' own mounts forbid already
  std::map<uint32_t, uint64_t> highest_limits = {};  // by RLIMIT_*: what the starting user may not exceed
};

// The text of config.json. Equal plans give equal bytes. JSON is UTF-8: the words of the command and its
// environment are said in another way where they are not, but a path that a runtime has to find is refused,
// because it would find another one.
Result<std::string> oci_config(const ConfinementPlan& plan, const OciOptions& options);

// What the plan requires and neither such a box nor --inner can keep.
std::vector<MissingLayer> oci_missing(const ConfinementPlan& plan, const OciOptions& options);

}  // namespace cloche
