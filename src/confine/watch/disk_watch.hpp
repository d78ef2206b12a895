// Growth of the directories a command may write to. There is no quota that an ordinary user could set, so the
// free blocks and inodes of their file systems are watched, which costs a microsecond; only when more is gone
// than the limit allows is the tree walked to see whether it was this command that took it. Only what was
// found there counts: what a walk did not come to may be of any other process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/sys/fd.hpp"

#include "confine/watch/process_table.hpp"

namespace cloche {

struct DiskGrowth {
  uint64_t bytes = 0;
  uint64_t files = 0;
};

// Who writes in a tree: other processes as well, or the call alone, whose layer it is. What cannot be looked
// at in a layer (a directory or a process that is closed to us, or files too deep) the command has hidden
// there, and then all that the file system has lost is its own.
enum class TreeOf { host, call };
struct WatchedTree {
  std::string directory;  // on the host
  TreeOf whose = TreeOf::host;
};

class DiskWatch {
 public:
  // Files that change from now on are the command's.
  DiskWatch(const std::vector<WatchedTree>& trees, uint64_t byte_limit, uint64_t file_limit);

  // What the command has added, when that is more than a limit allows. `table` shows files that are
  // deleted and still open; -1 when there is none.
  std::optional<DiskGrowth> beyond_limit(const ProcessTable& table);

 private:
  struct Root {
    OwnedFd directory;
    TreeOf whose = TreeOf::host;
    uint64_t device = 0;
    DiskGrowth at_start = {};   // what the file system had free
    DiskGrowth walked_at = {};  // and when the tree was last walked, or the most since
  };
  bool is_beyond(const DiskGrowth& growth) const {
    return growth.bytes > byte_limit_ || growth.files > file_limit_;
  }
  bool may_be_beyond(uint64_t now_ms);
  DiskGrowth measure(Root& root, const ProcessTable* table);

  std::vector<Root> roots_;
  DiskGrowth counted_ = {};  // by the last walk of all
  uint64_t next_walk_ms_ = 0;
  uint64_t byte_limit_;
  uint64_t file_limit_;
  int64_t started_seconds_;
};

// How large a directory that outlives its call has become: a task's home and /tmp have a size, and no kernel
// object keeps it. Walked only when the file system has lost as much as would be too much.
class SizeWatch {
 public:
  static constexpr uint64_t untold = ~uint64_t{0};  // it is too deep or closed

  SizeWatch(const std::string& directory, uint64_t most_bytes);

  // Its size, when that is more than it may have, or cannot be told.
  std::optional<uint64_t> beyond_limit();
  // The same by a walk, whatever the file system's free space says: another program may have given some back.
  std::optional<uint64_t> beyond_limit_exactly();

 private:
  uint64_t measure() const;

  OwnedFd directory_;
  uint64_t device_ = 0;
  uint64_t most_bytes_;
  uint64_t size_ = 0;        // when it was last walked
  uint64_t free_bytes_ = 0;  // of the file system: then, or the most since
};

}  // namespace cloche
