// Run as root, each concurrent sandbox is a user of its own outside, from a range nobody else uses.
//
// The claims are locks on the bytes of one file, which the kernel drops with the last descriptor: nothing has
// to be cleaned up, whoever is killed. The bytes themselves say which ids have left something to clean up:
// one is set while its call lives, and one that is set and not locked belonged to a call that was killed
// whole.
#pragma once

#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace cloche {

struct OutsideId {
  unsigned id = 0;
  unsigned slot = 0;
  OwnedFd lock;                     // the id is ours as long as a copy of this is open, here or in the keeper
  std::vector<unsigned> left = {};  // ids of calls that were killed with everybody who could clean up
};

// The lowest free id of the range.
Result<OutsideId> claim_outside_id(unsigned first, unsigned count,
                                   const std::string& directory = "/run/cloche");

// The call is over and has left nothing.
void leave_nothing(const OutsideId& id);

}  // namespace cloche
