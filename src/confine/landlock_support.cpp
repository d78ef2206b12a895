#include "confine/landlock_support.hpp"

#include <algorithm>

namespace cloche {

int least_landlock_abi_of(IsolationLevel level) {
  return level == IsolationLevel::subprocess ? least_alone_landlock_abi : least_landlock_abi;
}

LandlockSupport landlock_support(IsolationLevel level, int offered) {
  if (offered < least_landlock_abi_of(level)) return {};
  const std::string landlock = "landlock-abi" + std::to_string(offered);
  LandlockSupport support{.abi = std::min(offered, newest_landlock_abi), .files_by = landlock};
  if (offered >= scoping_landlock_abi) support.scope_by = landlock;
  if (level != IsolationLevel::subprocess) return support;
  // What the kernel does not look at yet, the filter refuses and the warden judges.
  if (offered < truncating_landlock_abi) support.files_by += "+seccomp";
  if (offered < scoping_landlock_abi) support.scope_by = "seccomp+warden";
  return support;
}

}  // namespace cloche
