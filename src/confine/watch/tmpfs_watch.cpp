#include "confine/watch/tmpfs_watch.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <utility>

#include "base/sys/sys.hpp"

namespace cloche {
namespace {

constexpr uint64_t bytes_a_file = 1024;  // of the kernel's own for one without content, as it counts itself

}  // namespace

void TmpfsWatch::attach(int root) {
  struct stat below {};
  if (::fstat(root, &below) != 0) return;
  for (auto& target : targets_) {
    auto mounted = sys::open_at(root, target.substr(1), O_PATH | O_DIRECTORY | O_NOFOLLOW);
    struct stat seen {};
    // A call that has just ended leaves the directories below its mounts, which are the root's and not its
    // own.
    const bool own =
        mounted.ok() && ::fstat(mounted.value().get(), &seen) == 0 && seen.st_dev != below.st_dev;
    if (own) held_.push_back({std::move(target), std::move(mounted).value()});
  }
  targets_.clear();
}

uint64_t TmpfsWatch::sample() {
  uint64_t total = 0;
  for (auto& held : held_) {
    struct statfs seen {};
    if (::fstatfs(held.root.get(), &seen) != 0) continue;
    total += (seen.f_blocks - seen.f_bfree) * static_cast<uint64_t>(seen.f_bsize);
    total += (seen.f_files - seen.f_ffree) * bytes_a_file;
    const bool is_sized = seen.f_blocks != 0;  // else without a limit of its own
    held.was_full = held.was_full || (is_sized && (seen.f_bavail == 0 || seen.f_ffree == 0));
  }
  return total;
}

std::vector<std::string> TmpfsWatch::end() {
  (void)sample();
  std::vector<std::string> full;
  for (auto& held : std::exchange(held_, {})) {
    if (held.was_full) full.push_back(std::move(held.target));
  }
  return full;
}

}  // namespace cloche
