// An empty directory of Cloche's own to try something in; gone with everything in it when we are done, or,
// where we were killed in between, with the next call, which finds a note of it
// (gateway/throwaway_notes.hpp). One whose note was not written yet goes when the next one is made.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/environment.hpp"
#include "base/sys/fd.hpp"
#include "model/run_request.hpp"

namespace cloche {

// Where one may be, best first. /var/tmp, because the host's /tmp is not what a command sees there; the
// others where that is all one can write to, on a host that is read-only otherwise. Not in Cloche's own
// state: a workspace there is refused.
std::vector<std::string> throwaway_parents(const Environment& environment, bool root);

class Throwaway {
 public:
  // Without a state directory there is no note.
  Throwaway(const std::string& purpose, const Environment& environment, const std::string& state);
  ~Throwaway();
  Throwaway(const Throwaway&) = delete;
  Throwaway& operator=(const Throwaway&) = delete;

  const std::string& path() const { return path_; }  // empty: it could not be made
  Error why_not() const;                             // then

 private:
  void leave_note(const std::string& state, const std::string& name, const std::string& parent);

  std::vector<std::string> parents_;
  std::string path_;
  std::string note_;
  int number_ = 0;  // why the last of them could not have one
  OwnedFd lock_;    // on the directory, as long as somebody uses it
};

// A command with that for its workspace, and nothing of the caller's.
RunRequest in_throwaway(const Throwaway& workspace, std::vector<std::string> argv);

}  // namespace cloche
