#include "store/group_commit.hpp"

#include <unistd.h>

#include <algorithm>

namespace cloche {

Result<void> GroupCommit::reach(int fd, uint64_t size) {
  std::unique_lock lock(mutex_);
  wanted_ = std::max(wanted_, size);
  while (reached_ < size && failed_ == 0) {
    if (syncing_) {
      changed_.wait(lock);
      continue;
    }
    syncing_ = true;
    const uint64_t covered = wanted_;  // all of it was written before it was wanted
    lock.unlock();
    const int failure = ::fdatasync(fd) == 0 ? 0 : errno;
    lock.lock();
    syncing_ = false;
    ++syncs_;
    failure == 0 ? reached_ = covered : failed_ = failure;
    changed_.notify_all();
  }
  if (failed_ != 0) return system_error("bring the record to the disk", failed_);
  return {};
}

}  // namespace cloche
