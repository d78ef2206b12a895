#include "confine/probe.hpp"

#include <sys/prctl.h>

#include <charconv>
#include <cstdlib>

#include "base/sys.hpp"
#include "jail/kernel.hpp"

namespace cloche {
namespace {

int offered_landlock() {
#ifdef CLOCHE_TEST_HOOKS
  // Only in builds for tests: how an older kernel is met. A release has no such knob.
  if (const char* text = std::getenv("CLOCHE_TEST_LANDLOCK_ABI"))
    return std::atoi(text);  // NOLINT(cert-err34-c)
#endif
  return kernel::landlock_abi();
}

// The sysctl's number, or `absent` when this kernel does not have it.
long sysctl(const char* path, long absent) {
  const auto text = sys::read_small_file(path);
  long value = absent;
  if (text.ok()) std::from_chars(text.value().data(), text.value().data() + text.value().size(), value);
  return value;
}

}  // namespace

HostProbe probe_host() {
  HostProbe probe;
  probe.landlock_abi = offered_landlock();
  probe.has_filter = ::prctl(PR_GET_SECCOMP) >= 0;
  probe.user_namespaces = sysctl("/proc/sys/user/max_user_namespaces", 1) > 0;
  if (!probe.user_namespaces) probe.user_namespaces_fix = "sysctl -w user.max_user_namespaces=15000";
  return probe;
}

}  // namespace cloche
