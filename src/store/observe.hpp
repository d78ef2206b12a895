// The one look at the world before a plan is made. What the operator named is opened once and held, so that
// the jail can check that it mounts exactly what was judged.
#pragma once

#include <vector>

#include "base/environment.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"
#include "model/facts.hpp"
#include "model/run_request.hpp"

namespace cloche {

struct IdRange {
  unsigned first =
      2'000'000'000;  // above every account, service manager and container tool we know of, below 2^31
  unsigned count = 65'536;
};

struct Observation {
  Facts facts;
  std::vector<OwnedFd> held;
};

// Who calls. Asked first, because a jail can be started knowing just this.
Result<CallerFact> observe_caller(const RunRequest& request, const Environment& environment,
                                  const IdRange& ids);

// Everything else. `state` is Cloche's own directory.
Result<Observation> observe(const RunRequest& request, const Environment& environment, CallerFact caller,
                            const std::string& state);

// The two halves of it. What the host is like - who calls, the system's paths, toolchains - is the same for
// many calls, and whoever makes many may look once for all of them.
Result<Facts> observe_host(const RunRequest& request, const Environment& environment, CallerFact caller,
                           const std::string& state);
// What the request itself names, added to what is known of the host; held open.
Result<Observation> observe_named(const RunRequest& request, Facts host);

// The host mounts below the operator's trees; looked up only when a clone without them was refused.
Result<void> observe_mounts_below(Facts& facts);

}  // namespace cloche
