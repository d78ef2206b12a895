// What a pool has, and what it was good for. Each writes that into a file of its own in the state directory,
// which it holds a lock on as long as it lives, so that another process can say it: `cloche doctor -v`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/sys/fd.hpp"

namespace cloche {

struct PoolCounts {
  size_t bound = 0;
  size_t waiting = 0;         // sandboxes that are there for the next call
  uint64_t memory_bytes = 0;  // that these have
  uint64_t hits = 0;          // calls that began in one
  uint64_t misses = 0;        // calls that found none

  bool operator==(const PoolCounts&) const = default;
};

// One sentence. Pure.
std::string describe(const PoolCounts& counts);

class PoolNotice {
 public:
  explicit PoolNotice(const std::string& state);
  PoolNotice(const PoolNotice&) = delete;
  PoolNotice& operator=(const PoolNotice&) = delete;
  ~PoolNotice();

  // Best effort: without the file nothing is missing but the sentence.
  void write(const PoolCounts& counts) const;

 private:
  std::string path_;
  OwnedFd file_;
};

// One sentence for each pool of this user's that is there now. Removes what pools that were killed have left.
std::vector<std::string> describe_pools(const std::string& state);

}  // namespace cloche
