#include "confine/boxes/host_mounts.hpp"

#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

#include "confine/boxes/box_parts.hpp"

namespace cloche {
namespace {

Error no_mount_point(Message what, Message fix) {
  Error error = refusal(std::move(what), std::move(fix));
  error.layer = LayerId::mount_view;
  return error;
}

}  // namespace

Result<void> check_mount_points(const ConfinementPlan& plan) {
  for (const auto& [path, target, source, file] : host_mount_points(plan)) {
    struct stat seen {};
    if (::lstat(path.c_str(), &seen) != 0)
      return no_mount_point(target + " has no place to be mounted" +
                                (source.empty() ? "" : " for " + source) + ": " + path + " does not exist",
                            "make it, or choose another target with SRC:DST");
    if (S_ISLNK(seen.st_mode))
      return no_mount_point(target + " cannot be mounted on " + path + ", which is a symbolic link",
                            "choose another target with SRC:DST");
    if (S_ISDIR(seen.st_mode) == file)
      return no_mount_point(
          target + " cannot be mounted on " + path + ": one is a directory, the other is not",
          "choose another target with SRC:DST");
  }
  return {};
}

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
