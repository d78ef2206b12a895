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
  OwnedFd lock;       // the id is ours as long as a copy of this is open, here or in the keeper
  OwnedFd name = {};  // likewise; where the file is not everybody's
};

// Where the file of claims may lie.
struct ClaimPlace {
  std::string directory;
  // Everybody on the host looks into this one. Otherwise others may have another, and each id is claimed by a
  // name as well that the kernel gives to one alone: that of an abstract socket. Whoever takes such a name
  // keeps us from an id, not from the others.
  bool shared = true;

  bool operator==(const ClaimPlace&) const = default;
};

// Best first.
std::vector<ClaimPlace> claim_places(const std::string& state);

// The lowest free id of the range, by the first of these places that can be used: each is made, and one that
// somebody else could change is passed over. `clean` is called for each id whose call was killed with
// everybody who could clean up; it is claimed meanwhile, so that nobody begins to use what is being taken
// away.
Result<OutsideId> claim_outside_id(unsigned first, unsigned count,
                                   const std::function<void(unsigned id)>& clean,
                                   const std::vector<ClaimPlace>& places);

// The call is over and has left nothing.
void leave_nothing(const OutsideId& id);

}  // namespace cloche
