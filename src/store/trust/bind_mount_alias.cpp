#include "store/trust/bind_mount_alias.hpp"

#include <fcntl.h>
#include <linux/stat.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/sys/path.hpp"

namespace cloche {
namespace {

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x00001000U
#endif

}  // namespace

const MountCache::Seen& MountCache::look(const std::string& path) {
  const auto known = seen_.find(path);
  if (known != seen_.end()) return known->second;
  const auto above = seen_.find(std::string(parent_of(path)));
  Seen found;
  struct statx seen {};
  if (above != seen_.end() && above->second.error == ENOENT) {
    found.error = ENOENT;
  } else if (::syscall(SYS_statx, AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_TYPE | STATX_MNT_ID,
                       &seen) != 0) {
    found.error = errno;
  } else {
    found = {.mode = seen.stx_mode,
             .mount = (seen.stx_mask & STATX_MNT_ID) != 0 ? seen.stx_mnt_id : 0,
             .major = seen.stx_dev_major,
             .minor = seen.stx_dev_minor};
  }
  return seen_.emplace(path, found).first->second;
}

// The part of the path that exists.
const MountCache::Seen& MountCache::look_at_existing(const std::string& path) {
  const Seen& seen = look(path);
  const bool is_end = path == "/" || path.empty();
  return seen.error == 0 || is_end ? seen : look_at_existing(std::string(parent_of(path)));
}

// Most of the time two numbers say that there is no need for the whole table.
bool MountCache::may_be_from(const Seen& directory, const Seen& path) {
  if (directory.error != 0 || path.error != 0) return true;
  if (directory.mount != 0 && directory.mount == path.mount) return false;
  // Two disks; a file system without one (major 0) may have several numbers.
  const bool same = directory.major == path.major && directory.minor == path.minor;
  return same || directory.major == 0 || path.major == 0;
}

bool MountCache::is_mounted_from(const std::string& directory, const std::string& path) {
  if (!may_be_from(look_at_existing(directory), look_at_existing(path))) return false;
  if (!table_) table_ = mount_table();
  if (!table_) return true;  // it cannot be ruled out
  const auto tree = path_in_file_system(*table_, directory);
  const auto place = path_in_file_system(*table_, path);
  return tree && place && tree->device == place->device && is_beneath(tree->path, place->path) &&
         !is_beneath(directory, path);
}

bool is_mounted_from(const std::string& directory, const std::string& path) {
  return MountCache().is_mounted_from(directory, path);
}

bool lies_in(const std::string& directory, const std::string& path) {
  return is_beneath(directory, path) || is_mounted_from(directory, path);
}

}  // namespace cloche
