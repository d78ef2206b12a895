// What the host is like, looked up at most once a second for all calls of a session: who calls, the system's
// paths and toolchains do not change from call to call, and the jail checks that it mounts what was judged.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "base/sys/environment.hpp"
#include "gateway/configuration/installation.hpp"
#include "model/run_request.hpp"

namespace cloche {

class HostFactsCache {
 public:
  // `request` has the view and the toolchains.
  // `early` is told who calls before the rest is looked up; not where all of it is known already.
  using Early = std::function<void(const RunRequest&, const CallerFact&)>;
  Result<std::shared_ptr<const Facts>> now(const RunRequest& request, const Environment& environment,
                                           const Installation& installation, const Early& early = {});

 private:
  std::mutex lock_;
  uint64_t taken_ms_ = 0;
  std::shared_ptr<const Facts> facts_;
};

}  // namespace cloche
