#include "store/protected/file_system_times.hpp"

#include <linux/magic.h>
#include <sys/vfs.h>

namespace cloche {
namespace {

constexpr uint64_t xfs_magic = 0x58465342;
constexpr uint64_t zfs_magic = 0x2fc12fc1;

}  // namespace

bool stamps_mapped_writes(uint64_t type) {
  switch (type) {
    case EXT4_SUPER_MAGIC:
    case xfs_magic:
    case BTRFS_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC:
    case zfs_magic: return true;
    default: return false;
  }
}

bool keeps_change_times(uint64_t type) {
  return stamps_mapped_writes(type) || type == TMPFS_MAGIC || type == OVERLAYFS_SUPER_MAGIC;
}

uint64_t file_system_type(int fd) {
  struct statfs seen {};
  return ::fstatfs(fd, &seen) == 0 ? static_cast<uint32_t>(seen.f_type) : 0;
}

}  // namespace cloche
