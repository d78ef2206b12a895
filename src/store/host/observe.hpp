// Observes the host once, before a plan is made. What the operator named is opened once and held, so that the
// jail can check that it mounts exactly what was judged.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/environment.hpp"
#include "model/facts.hpp"
#include "model/run_request.hpp"

namespace cloche {

struct IdRange {
  unsigned first =
      2'000'000'000;  // above every account, service manager and container tool we know of, below 2^31
  unsigned count = 65'536;
};

// Where Cloche itself lives.
struct OwnPlaces {
  std::string state;                            // its state directory; empty: there is none
  std::vector<std::string> parts = {};          // its programs, and the files they read
  std::vector<std::string> configuration = {};  // the directories of the operator's
  std::vector<std::string> trusted =
      {};  // the files of both that are run or read: each must have only one name
};

// Who calls. Asked first, because a jail can be started when just this is known.
CallerFact observe_caller(const RunRequest& request, const Environment& environment, const IdRange& ids);

// Everything else.
Result<Observation> observe(const RunRequest& request, const Environment& environment, CallerFact caller,
                            const OwnPlaces& own);

// The two halves of it. The facts of the host (who calls, the system's paths, toolchains) are the same for
// many calls, and a session may observe them once for all of them.
Result<Facts> observe_host(const RunRequest& request, const Environment& environment, CallerFact caller,
                           const OwnPlaces& own);
// What the request itself names, added to the facts of the host, and held open.
Result<Observation> observe_named(const RunRequest& request, Facts host);

// What is at a path, or would be made there, with every link of the part that exists followed.
FileFact look_at_place(const std::string& place);

// Where anything is mounted, as this process sees it.
Result<std::vector<std::string>> mount_points();

// The host mounts below the operator's trees; looked up only when a clone without them was refused.
Result<void> observe_mounts_below(Facts& facts);

}  // namespace cloche
