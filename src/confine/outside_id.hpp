// Run as root, each concurrent sandbox is a user of its own outside, from a range nobody else uses.
#pragma once

#include "base/fd.hpp"
#include "base/result.hpp"

namespace cloche {

struct OutsideId {
  unsigned id = 0;
  OwnedFd lock;  // the id is ours as long as a copy of this is open, here or in the jail's keeper
};

// A free id of the range. The claim is a lock on one byte of a file, which the kernel drops with its last
// descriptor: nothing has to be cleaned up, whoever is killed.
Result<OutsideId> claim_outside_id(unsigned first, unsigned count,
                                   const std::string& directory = "/run/cloche");

}  // namespace cloche
