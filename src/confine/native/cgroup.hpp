// A cgroup for one call: memory and processes of everything in it counted together by the kernel, on version
// 2 or 1. The supervisor makes it and reads its numbers; the jail joins it, and its keeper removes it. The
// keeper learns the name before the group is made, so it takes the group away also when the supervisor is
// killed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "model/limits.hpp"

namespace cloche {

// What counts a call's memory: the kernel, in a cgroup of one of two versions, or Cloche, at intervals.
enum class CountedBy { watched, cgroup1, cgroup2 };
std::string_view name_of(CountedBy by);

class Cgroup {
 public:
  struct Numbers {
    uint64_t memory_peak_bytes = 0;
    uint64_t memory_kills = 0;      // processes the kernel ended for lack of memory
    uint64_t processes_denied = 0;  // forks that met the limit
  };

  // Where a group of this name would be; nothing is made yet. Nothing when this caller can have none. `table`
  // is the text of /proc/self/cgroup and `tree` where the host mounts cgroups; others only in tests.
  static std::optional<Cgroup> find(const std::string& name, const std::string& table,
                                    const std::string& tree = "/sys/fs/cgroup");
  static std::optional<Cgroup> find(const std::string& name);

  // Makes it. One that is there already was left by a call that is dead (a name belongs to one call at a
  // time), and is replaced.
  Result<void> make(const Limits& limits);

  CountedBy by() const { return by_; }  // a version
  const std::vector<std::string>& directories() const { return directories_; }
  // What the jail enters by: `tasks` of each directory on version 1, the directory itself on version 2.
  std::vector<int> procs_files() const;
  Numbers numbers() const;
  // Only for when the keeper cannot: it was killed, or never started.
  void remove() const;

 private:
  CountedBy by_ = CountedBy::cgroup2;
  std::vector<std::string> directories_;
  std::vector<OwnedFd> opened_;  // the directories
  std::vector<OwnedFd> tasks_;
};

// For a caller who has no id of the call's own to name it by.
std::string fresh_cgroup_name();

}  // namespace cloche
