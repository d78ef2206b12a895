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

UserNamespaceSwitches user_namespace_switches() {
  return {.most = sysctl("/proc/sys/user/max_user_namespaces", 1),
          .by_users = sysctl("/proc/sys/kernel/unprivileged_userns_clone", 1),
          .restricted = sysctl("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 0),
          .filtered = ::prctl(PR_GET_SECCOMP) > 0};
}

std::string fix_for_user_namespaces(const UserNamespaceSwitches& switches) {
  if (switches.most <= 0) return "sysctl -w user.max_user_namespaces=15000";
  if (switches.by_users == 0) return "sysctl -w kernel.unprivileged_userns_clone=1";
  if (switches.restricted != 0) return "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0";
  if (switches.filtered)
    return "allow clone, unshare and mount in the seccomp profile of the container or service around Cloche";
  return {};
}

HostProbe probe_host() {
  HostProbe probe;
  probe.landlock_abi = offered_landlock();
  probe.has_filter = ::prctl(PR_GET_SECCOMP) >= 0;
  probe.user_namespaces = sysctl("/proc/sys/user/max_user_namespaces", 1) > 0;
  if (!probe.user_namespaces) probe.user_namespaces_fix = fix_for_user_namespaces({.most = 0});
  return probe;
}

}  // namespace cloche
