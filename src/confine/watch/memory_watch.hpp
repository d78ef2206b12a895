// The memory of a whole sandbox without a cgroup: what its processes hold, its tmpfs, and memory files that
// no process has mapped. Three passes, each only when the one before cannot say that all is well:
//   cheap    resident pages of every process, shared ones counted by each: an upper bound
//   exact    proportional shares, which add up to the truth
//   deep     when the host lost more than that explains: up to the size of its shared mappings, sockets and
//   pipes
// What could be hidden from all three (memory files, what System V has but for 64 MiB of small segments) the
// filter refuses in such a sandbox.
#pragma once

#include <cstdint>

#include "base/sys/sys.hpp"
#include "confine/watch/process_table.hpp"

namespace cloche {

class MemoryWatch {
 public:
  explicit MemoryWatch(uint64_t limit_bytes);

  // What is in use now, as far as needed to compare it with the limit; `in_files` lies in the view's memory
  // file systems.
  uint64_t sample(const ProcessTable& table, uint64_t in_files);
  uint64_t peak_bytes() const { return peak_; }
  uint64_t limit_bytes() const { return limit_; }

 private:
  uint64_t limit_;
  struct Host {
    uint64_t available = 0;
    uint64_t shared = 0;  // pages of tmpfs and of shared mappings, of all processes
  };
  static Host look_at_host();

  Host best_;  // the most available and the least shared since the start
  uint64_t peak_ = 0;
};

// A command can make looking dear, and its deadline waits meanwhile.
class LookBudget {
 public:
  bool is_spent() const { return sys::monotonic_ms() >= end_ms_; }

 private:
  static constexpr uint64_t longest_look_ms = 100;
  uint64_t end_ms_ = sys::monotonic_ms() + longest_look_ms;
};

// The most memory that the processes of a sandbox can have without any page table that shows it: content of
// memory files, sockets and pipes, and what the kernel keeps for each mapping. An upper bound; everything
// (~0) when there is no time to find out, or something that we may not see.
uint64_t hidden_at_most(const ProcessTable& table, const LookBudget& budget);

}  // namespace cloche
