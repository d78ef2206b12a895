// An empty directory of Cloche's own to try something in. It is removed with everything in it when the trial
// is done; where Cloche was killed before that, by the next call, which finds a note of it: a file in
// STATE/tried with the directory's own name, which holds its parent. One whose note was not written yet is
// removed when the next one is made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/sys/environment.hpp"
#include "base/sys/fd.hpp"
#include "model/run_request.hpp"

namespace cloche {

// Where one may be, best first. /var/tmp, because the host's /tmp is not what a command sees there; the
// others where that is all one can write to, on a host that is read-only otherwise. Not in Cloche's own
// state: a workspace there is refused.
std::vector<std::string> scratch_parents(const Environment& environment, bool root);

class ScratchWorkspace {
 public:
  // Without a state directory there is no note.
  ScratchWorkspace(const std::string& purpose, const Environment& environment, const std::string& state);
  ~ScratchWorkspace();
  ScratchWorkspace(const ScratchWorkspace&) = delete;
  ScratchWorkspace& operator=(const ScratchWorkspace&) = delete;

  const std::string& path() const { return path_; }  // empty: it could not be made
  Error why_not() const;                             // then

 private:
  void leave_note(const std::string& state, const std::string& name, const std::string& parent);

  std::vector<std::string> parents_;
  std::string path_;
  std::string note_;
  int number_ = 0;  // why the last of them could not have one
  OwnedFd lock_;    // on the directory, as long as it is used
};

inline constexpr std::string_view scratch_prefix = "cloche-try-";

// The note of the one that is called `name`.
std::string scratch_note(const std::string& state, const std::string& name);

// Held by the process that uses it, and by one that removes it; nothing: another process has it.
OwnedFd lock_scratch(const std::string& path);

// Removes those that have a note and that no process uses any more. It searches nowhere else.
void clear_scratch(const std::string& state);

// A command with that for its workspace, and nothing of the caller's.
RunRequest in_scratch(const ScratchWorkspace& workspace, std::vector<std::string> argv);

}  // namespace cloche
