// A cgroup for one call: memory and processes of everything in it counted together by the kernel, on version
// 2 or 1. The supervisor makes it and reads its numbers; the jail's keeper joins it and removes it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "model/limits.hpp"

namespace cloche {

class Cgroup {
 public:
  struct Numbers {
    uint64_t memory_peak_bytes = 0;
    uint64_t memory_kills = 0;      // processes the kernel ended for lack of memory
    uint64_t processes_denied = 0;  // forks that met the limit
  };

  // Nothing when this caller can make none; `why` then says what stood in the way. `tree` is where the host
  // mounts cgroups; another one only in tests.
  static std::optional<Cgroup> create(const Limits& limits, std::string& why,
                                      const std::string& tree = "/sys/fs/cgroup");

  const std::string& by() const { return by_; }  // "cgroup2" or "cgroup1"
  const std::vector<std::string>& directories() const { return directories_; }
  // What the jail enters by: `tasks` of each directory on version 1, the directory itself on version 2.
  const std::vector<OwnedFd>& doors() const { return doors_; }
  Numbers numbers() const;
  // Only for when the keeper cannot: it was killed, or never started.
  void remove() const;

 private:
  std::string by_;
  std::vector<std::string> directories_;
  std::vector<OwnedFd> doors_;
  OwnedFd memory_;  // the directory that has the memory files
  OwnedFd pids_;
};

}  // namespace cloche
