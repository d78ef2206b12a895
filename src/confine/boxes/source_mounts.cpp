#include "confine/boxes/source_mounts.hpp"

#include <sys/statfs.h>
#include <sys/statvfs.h>

namespace cloche {

SourceMounts look_at_source_mounts(const ConfinementPlan& plan) {
  SourceMounts mounts;
  for (const auto& entry : plan.view) {
    struct statfs seen {};
    if (entry.kind != EntryKind::tree || ::statfs(entry.source.c_str(), &seen) != 0) continue;
    const SourceMount mount{.read_only = (seen.f_flags & ST_RDONLY) != 0,
                            .runs_nothing = (seen.f_flags & ST_NOEXEC) != 0};
    if (mount.read_only || mount.runs_nothing) mounts[entry.source] = mount;
  }
  return mounts;
}

}  // namespace cloche
