// Parts of a runtime that were killed while the rest of it goes on. gVisor's kernel waits for ever for an
// answer of the process that opens its files, or of one that runs the command's code for it, when that dies
// at the wrong moment. Only its parent hears of it, and does not wait for it either, so it stays in the
// table of processes, and there it is seen.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "confine/watch/process_table.hpp"

namespace cloche {

class DeadRuntimeProcesses {
 public:
  // Looks, if it is time to. Whether a process has been dead in several looks: a runtime that lives, and one
  // that is about to end, waits for its own sooner. `table` has the keeper for its ancestor, whose own
  // children do not count: it waits for them at the end.
  bool remain(const ProcessTable& table, uint64_t now_ms);

 private:
  std::map<std::string, int> looks_;  // that each of the dead was seen in, without a gap
  uint64_t next_ms_ = 0;
};

}  // namespace cloche
