// The processor time of a whole tree. What its living processes and the children they waited for have used
// the kernel says; but a child whose parent does not wait takes its time with it. So the growth of each
// process is added up as well, from look to look, and the larger of the two sums counts.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "confine/watch/process_table.hpp"

namespace cloche {

class CpuWatch {
 public:
  // In clock ticks, of the processes in this table and of those seen in it before.
  uint64_t sample(const ProcessTable& table);

 private:
  using Process = std::pair<uint64_t, uint64_t>;  // its number and when it was started
  std::map<Process, uint64_t> seen_;
  uint64_t grown_ = 0;
};

}  // namespace cloche
