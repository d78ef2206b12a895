// One fdatasync for many: whoever comes first syncs for all that has been written by then, the others wait
// for that one or the next.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "base/result.hpp"

namespace cloche {

class GroupCommit {
 public:
  // Returns when the first `size` bytes of the file, which have been written, are on the disk. After a
  // failure it fails for good: the kernel forgets what it could not write, and a later success would prove
  // nothing.
  Result<void> reach(int fd, uint64_t size);

  uint64_t syncs() const { return syncs_; }  // for tests: how many it took

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t wanted_ = 0;
  uint64_t reached_ = 0;
  bool syncing_ = false;
  int failed_ = 0;  // errno
  uint64_t syncs_ = 0;
};

}  // namespace cloche
