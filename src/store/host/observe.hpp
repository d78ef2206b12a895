// The one look at the world before a plan is made. What the operator named is opened once and held, so that
// the jail can check that it mounts exactly what was judged.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "base/sys/environment.hpp"
#include "model/observation.hpp"
#include "model/run_request.hpp"

namespace cloche {

struct IdRange {
  unsigned first =
      2'000'000'000;  // above every account, service manager and container tool we know of, below 2^31
  unsigned count = 65'536;
};

// Where Cloche itself lives.
struct OwnPlaces {
  std::string state;                            // what it keeps; empty: nowhere
  std::vector<std::string> parts = {};          // its programs, and what they read
  std::vector<std::string> configuration = {};  // the directories of the operator's
  std::vector<std::string> trusted = {};        // of both what is run or read, which must have one name only
};

// Who calls. Asked first, because a jail can be started knowing just this.
CallerFact observe_caller(const RunRequest& request, const Environment& environment, const IdRange& ids);

// Everything else.
Result<Observation> observe(const RunRequest& request, const Environment& environment, CallerFact caller,
                            const OwnPlaces& own);

// The two halves of it. What the host is like - who calls, the system's paths, toolchains - is the same for
// many calls, and whoever makes many may look once for all of them.
Result<Facts> observe_host(const RunRequest& request, const Environment& environment, CallerFact caller,
                           const OwnPlaces& own);
// What the request itself names, added to what is known of the host; held open.
Result<Observation> observe_named(const RunRequest& request, Facts host);

// What of the protected set lies in the trees that this request can write to. Apart, because only a call that
// starts a program needs it; the first time by the request, and again by what was found then.
Result<void> observe_protected(const RunRequest& request, Observation& seen);
Result<void> observe_protected_again(Observation& seen);

// What is at a place, or would be made there: with every link of the part that exists followed.
FileFact look_at_place(const std::string& place);

// The host mounts below the operator's trees; looked up only when a clone without them was refused.
Result<void> observe_mounts_below(Facts& facts);

}  // namespace cloche
