#include "gateway/launch/host_facts_cache.hpp"

#include "base/sys/sys.hpp"

namespace cloche {
namespace {

constexpr uint64_t longest_ms = 1000;

}  // namespace

Result<std::shared_ptr<const Facts>> HostFactsCache::now(const RunRequest& request,
                                                         const Environment& environment,
                                                         const Installation& installation,
                                                         const Early& early) {
  const std::lock_guard held(lock_);
  const uint64_t now_ms = sys::monotonic_ms();
  if (facts_ && now_ms - taken_ms_ < longest_ms) return facts_;
  // Whether he may is asked when a call has its level: not every tool has one, and not every isolation level
  // promises ids.
  CallerFact caller = observe_caller(request, environment, installation.ids);
  if (early) early(request, caller);
  facts_ = std::make_shared<const Facts>(
      TRY(observe_host(request, environment, std::move(caller), installation.places(environment))));
  taken_ms_ = now_ms;
  return facts_;
}

}  // namespace cloche
