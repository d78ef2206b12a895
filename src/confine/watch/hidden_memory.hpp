// The most memory that the processes of a sandbox can have without any page table that shows it: content of
// memory files, sockets and pipes, and what the kernel keeps for each mapping.
#pragma once

#include <cstdint>

#include "base/sys/sys.hpp"
#include "confine/watch/process_table.hpp"

namespace cloche {

// A command can make looking dear, and its deadline waits meanwhile.
class LookBudget {
 public:
  bool is_spent() const { return sys::monotonic_ms() >= end_ms_; }

 private:
  static constexpr uint64_t longest_look_ms = 100;
  uint64_t end_ms_ = sys::monotonic_ms() + longest_look_ms;
};

// An upper bound; everything (~0) when there is no time to find out, or something that we may not see.
uint64_t hidden_at_most(const ProcessTable& table, const LookBudget& budget);

}  // namespace cloche
