// Run as root, each concurrent sandbox is a user of its own outside, from a range that no other user has.
//
// The claims are locks on the bytes of a file, which the kernel drops with the last descriptor: nothing has
// to be cleaned up, whichever process is killed. The bytes themselves say which ids have left something to
// clean up: one is set while its call lives, and one that is set and not locked belonged to a call that was
// killed whole.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"

namespace cloche {

struct OutsideId {
  unsigned id = 0;
  unsigned slot = 0;
  // The id is ours as long as a copy of one of these is open, here or in the keeper.
  std::vector<OwnedFd> locks = {};
  OwnedFd name = {};  // likewise; where not all of the files that others look into could be had
};

// Where the file of claims may lie.
struct ClaimPlace {
  std::string directory;
  // Every Cloche on the host that can looks into this one. One that cannot may meet others in no file, and
  // claims each id by a name as well that the kernel gives to one alone: that of an abstract socket. A call
  // that takes such a name keeps us from an id, not from the others.
  bool shared = true;

  bool operator==(const ClaimPlace&) const = default;
};

// Best first.
std::vector<ClaimPlace> claim_places(const std::string& state);

// The lowest free id of the range, by all of the shared places that can be used, else by one's own: each is
// made, and one that another user could change is passed over. `clean` is called for each id whose call was
// killed with every process that could clean up; it is claimed meanwhile, so that no call begins to use what
// is being taken away.
Result<OutsideId> claim_outside_id(unsigned first, unsigned count,
                                   const std::function<void(unsigned id)>& clean,
                                   const std::vector<ClaimPlace>& places);

// The call is over and has left nothing.
void leave_nothing(const OutsideId& id);

}  // namespace cloche
