// What no kernel object counts for an ordinary user is added up from outside: processor time of the tree,
// growth of the directories it may write to, and, where there is no cgroup, its memory. A sample costs
// something, so it is taken at an interval that keeps the cost small, and the overshoot of what was seen too
// late is reported.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/sys/fd.hpp"
#include "confine/native/cgroup.hpp"
#include "confine/watch/disk_watch.hpp"
#include "confine/watch/memory_watch.hpp"
#include "confine/watch/process_table.hpp"
#include "confine/watch/tmpfs_watch.hpp"
#include "model/plan.hpp"

namespace cloche {

// The processor time of a whole tree. What its living processes and the children they waited for have used
// the kernel says; but a child whose parent does not wait takes its time with it. So the growth of each
// process is added up as well, from look to look, and the larger of the two sums counts.
class CpuWatch {
 public:
  // In clock ticks, of the processes in this table and of those seen in it before.
  uint64_t sample(const ProcessTable& table);

 private:
  using Process = std::pair<uint64_t, uint64_t>;  // its number and when it was started
  std::map<Process, uint64_t> seen_;
  uint64_t grown_ = 0;
};

// Parts of a runtime that were killed while the rest of it goes on. gVisor's kernel waits for ever for an
// answer of the process that opens its files, or of one that runs the command's code for it, when that dies
// at the wrong moment. Only its parent hears of it, and does not wait for it either, so it stays in the
// table of processes, and there it is seen.
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

struct LimitHit {
  LimitId limit = LimitId::memory;
  std::string what;  // what was seen, for the one sentence
};

class Watch {
 public:
  // `upper_directories`: where the writes to layered trees go, by their targets.
  Watch(const ConfinementPlan& plan, const Cgroup* cgroup, uint64_t start_ms,
        const std::map<std::string, std::string>& upper_directories = {});

  // From now on the sandbox's processes can be looked at. `root` is the root of its view.
  void attach(int root);
  // The same where no pid namespace shows them: they are what `ancestor` has started.
  void attach_to_descendants(pid_t ancestor);
  // A task's directories that earlier calls have filled, before anything starts; and, once all has ended,
  // what came after the last look at them.
  std::optional<LimitHit> sizes_at_start();
  std::optional<LimitHit> sizes_at_end();
  // Once all has ended: which of the view's memory file systems are full, or were at an earlier look.
  std::vector<std::string> end_memory_files() { return tmpfs_.end(); }
  // How much the living processes have used, for when they are about to be ended: no process waits for them
  // then.
  void note_usage();
  uint64_t cpu_ms() const { return cpu_ms_; }
  uint64_t max_rss_bytes() const { return max_rss_bytes_; }
  uint64_t next_check_ms() const { return next_ms_; }
  std::optional<LimitHit> check(uint64_t now_ms);
  // A process outside has killed one of the runtime that runs the command by its own kernel, and the rest of
  // it waits for it.
  bool has_lost_a_part(uint64_t now_ms);
  // While the cgroup still exists.
  std::optional<LimitHit> check_cgroup();
  // What was read from it when everything had ended.
  std::optional<LimitHit> judge_cgroup(const Cgroup::Numbers& numbers);

  uint64_t processes_denied() const { return last_numbers_.processes_denied; }
  std::optional<uint64_t> memory_peak_bytes() const;
  std::optional<uint64_t> memory_overshoot_bytes() const;

 private:
  std::optional<LimitHit> check_memory(uint64_t in_files);
  std::optional<LimitHit> check_disk();
  std::optional<LimitHit> check_cpu(uint64_t now_ms);

  const Limits limits_;
  const Cgroup* cgroup_;
  uint64_t next_ms_;
  uint64_t next_cpu_ms_;
  ProcessTable table() const { return {proc_ ? proc_.get() : -1, ancestor_, processes_}; }

  OwnedFd proc_;  // /proc of the sandbox's own pid namespace, or the host's
  pid_t ancestor_ = 0;
  Processes processes_;
  DeadRuntimeProcesses dead_parts_;
  CpuWatch cpu_;
  DiskWatch disk_;
  std::vector<SizeWatch> sizes_;
  TmpfsWatch tmpfs_;
  std::optional<MemoryWatch> memory_;  // only without a cgroup
  Cgroup::Numbers last_numbers_;
  uint64_t cpu_ms_ = 0;
  uint64_t max_rss_bytes_ = 0;
};

}  // namespace cloche
