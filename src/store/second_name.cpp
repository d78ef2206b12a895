#include "store/second_name.hpp"

#include <fcntl.h>
#include <linux/stat.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"

namespace cloche {
namespace {

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x00001000U
#endif

}  // namespace

// Of the part of the path that exists.
std::optional<MountLook::MountedOn> MountLook::look(std::string path) {
  for (;; path = std::string(parent_of(path))) {
    struct statx seen {};
    if (::syscall(SYS_statx, AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_MNT_ID, &seen) == 0)
      return MountedOn{(seen.stx_mask & STATX_MNT_ID) != 0, seen.stx_mnt_id, seen.stx_dev_major,
                       seen.stx_dev_minor};
    if (path == "/" || path.empty()) return std::nullopt;
  }
}

// Most of the time two numbers say that there is no need for the whole table.
bool MountLook::may_be_from(const MountedOn& directory, const MountedOn& path) {
  if (directory.has_number && path.has_number && directory.number == path.number) return false;
  // Two disks; a file system without one (major 0) may have several numbers.
  const bool same = directory.major == path.major && directory.minor == path.minor;
  return same || directory.major == 0 || path.major == 0;
}

const std::optional<MountLook::MountedOn>& MountLook::mount_of(const std::string& path) {
  const auto known = seen_.find(path);
  return known != seen_.end() ? known->second : seen_.emplace(path, look(path)).first->second;
}

const MountLook::Table& MountLook::table() {
  if (!table_) {
    constexpr size_t most_bytes = 16 << 20;
    const auto text = sys::read_file("/proc/self/mountinfo", most_bytes);
    table_ = text.ok() ? Table(read_mount_table(text.value())) : Table();
  }
  return *table_;
}

bool MountLook::is_mounted_from(const std::string& directory, const std::string& path) {
  const auto& one = mount_of(directory);
  const auto& other = mount_of(path);
  if (one && other && !may_be_from(*one, *other)) return false;
  if (!table()) return true;  // nobody can rule it out
  const auto tree = place_in_file_system(*table(), directory);
  const auto place = place_in_file_system(*table(), path);
  return tree && place && tree->device == place->device && is_beneath(tree->path, place->path) &&
         !is_beneath(directory, path);
}

bool is_mounted_from(const std::string& directory, const std::string& path) {
  return MountLook().is_mounted_from(directory, path);
}

uint64_t mount_number(const std::string& path) {
  struct statx seen {};
  const bool said =
      ::syscall(SYS_statx, AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_MNT_ID, &seen) == 0 &&
      (seen.stx_mask & STATX_MNT_ID) != 0;
  return said ? seen.stx_mnt_id : 0;
}

bool lies_in(const std::string& directory, const std::string& path) {
  return is_beneath(directory, path) || is_mounted_from(directory, path);
}

}  // namespace cloche
