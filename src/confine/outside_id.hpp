// Run as root, each concurrent sandbox is a user of its own outside, from a range nobody else uses.
//
// The claims are locks on the bytes of one file, which the kernel drops with the last descriptor: nothing has
// to be cleaned up, whoever is killed. The bytes themselves say which ids have left something to clean up:
// one is set while its call lives, and one that is set and not locked belonged to a call that was killed
// whole.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace cloche {

struct OutsideId {
  unsigned id = 0;
  unsigned slot = 0;
  OwnedFd lock;  // the id is ours as long as a copy of this is open, here or in the keeper
};

// Where the file of claims may lie, best first: everybody on the host has to look into the same one, so what
// is one's own alone comes last.
std::vector<std::string> claim_directories(const std::string& state);

// The lowest free id of the range, by the first of these directories that can be used: each is made, and one
// that somebody else could change is passed over. `clean` is called for each id whose call was killed with
// everybody who could clean up; it is claimed meanwhile, so that nobody begins to use what is being taken
// away.
Result<OutsideId> claim_outside_id(unsigned first, unsigned count,
                                   const std::function<void(unsigned id)>& clean,
                                   const std::vector<std::string>& directories);

// The call is over and has left nothing.
void leave_nothing(const OutsideId& id);

}  // namespace cloche
