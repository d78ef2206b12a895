// What calls that write live have mounts on: the fixed places that they are shown read-only, and what is
// hidden from them. The kernel drops a mount when something is renamed over the file that it stands on, in
// whatever namespace, so that a commit of another call would open the place to a live call that is running.
//
// Each such call has a file STATE/live-calls/NAME, which it holds locked and which says what it has mounts
// on, by device and inode. A file whose lock is free has no call.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "model/change_set.hpp"
#include "model/facts.hpp"
#include "store/commit/commit.hpp"

namespace cloche {

class LiveMounts {
 public:
  // Before the mounts are made, with no commit to the trees under way. What it says holds for as long as the
  // value lives. An Error as well: another file stands at a place by now. Where the caller can write nothing
  // to the state directory no call can commit by it either, and nothing is said.
  static Result<LiveMounts> announce(const std::string& state, const std::vector<ChangedTree>& trees,
                                     const std::vector<FileFact>& places);

  LiveMounts() = default;
  LiveMounts(LiveMounts&&) = default;
  LiveMounts& operator=(LiveMounts&& other) noexcept;
  ~LiveMounts();

 private:
  std::string path_;
  OwnedFd lock_;
};

// Why the changes cannot be committed now: one of them would take such a mount away. Asked with the commits
// to the trees locked.
std::optional<std::string> why_held_by_live_call(const std::string& state, std::span<const CommitTree> trees,
                                                 const ChangeSet& changes,
                                                 const std::vector<ChangeVerdict>& verdicts);

}  // namespace cloche
