#include "store/commit/known_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/visible_text.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {

bool is_same_directory(const KnownDirectory& one, const KnownDirectory& other) {
  const bool is_birth_known = one.born_ns != 0 && other.born_ns != 0;
  return one.device == other.device && one.inode == other.inode &&
         (!is_birth_known || one.born_ns == other.born_ns);
}

Result<KnownDirectory> know_held(int fd, const std::string& path) {
  struct statx seen {};
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &seen) != 0)
    return system_error("look at " + shown(path));
  KnownDirectory directory{path, ::makedev(seen.stx_dev_major, seen.stx_dev_minor), seen.stx_ino};
  if ((seen.stx_mask & STATX_BTIME) != 0)
    directory.born_ns = seen.stx_btime.tv_sec * 1'000'000'000 + seen.stx_btime.tv_nsec;
  return directory;
}

Result<KnownDirectory> know_directory(const std::string& path) {
  const OwnedFd fd = TRY(sys::open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW));
  return know_held(fd.get(), path);
}

Result<OwnedFd> open_known(const KnownDirectory& directory) {
  OwnedFd fd = TRY(sys::open(directory.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  if (!is_same_directory(TRY(know_held(fd.get(), directory.path)), directory))
    return refusal("'" + shown(directory.path) + "' is not the directory that the change set was made with");
  return fd;
}

void remove_known(const KnownDirectory& place) {
  const auto parent = sys::open(std::string(parent_of(place.path)), O_PATH | O_DIRECTORY);
  const auto held = open_known(place);
  if (!parent.ok() || !held.ok()) return;
  for (const auto& name : names_in("/proc/self/fd/" + std::to_string(held.value().get())))
    (void)remove_entry(held.value().get(), name);
  const std::string name = last_of(place.path);
  const auto now = look_in(parent.value().get(), name);
  if (now && now->st_dev == place.device && now->st_ino == place.inode)
    (void)::unlinkat(parent.value().get(), name.c_str(), AT_REMOVEDIR);
}

bool stands_at(const std::string& path, int directory) {
  struct stat there {};
  struct stat held {};
  return ::lstat(path.c_str(), &there) == 0 && ::fstat(directory, &held) == 0 &&
         there.st_ino == held.st_ino && there.st_dev == held.st_dev;
}

bool are_on_one_mount(int one, int other) {
  struct statx seen[2] = {};
  const int fds[2] = {one, other};
  for (size_t i = 0; i < 2; ++i) {
    const int looked = ::statx(fds[i], "", AT_EMPTY_PATH, STATX_MNT_ID, &seen[i]);
    if (looked != 0 || (seen[i].stx_mask & STATX_MNT_ID) == 0) return false;
  }
  return seen[0].stx_mnt_id == seen[1].stx_mnt_id;
}

}  // namespace cloche
