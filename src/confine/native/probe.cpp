#include "confine/native/probe.hpp"

#include <sys/prctl.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/sys/mount_table.hpp"
#include "base/sys/sys.hpp"
#include "jail/core/kernel.hpp"

namespace cloche {
namespace {

// The sysctl's number, or `absent` when this kernel does not have it.
long sysctl(const char* path, long absent) {
  const auto text = sys::read_small_file(path);
  long value = absent;
  if (text.ok()) std::from_chars(text.value().data(), text.value().data() + text.value().size(), value);
  return value;
}

// Mounts are listed as they are seen from our root: none is at / where that is a directory within one. As
// root the first process's can be compared, which is that of the mount namespace unless it was locked in too.
bool is_chrooted() {
  const auto table = sys::read_file("/proc/self/mountinfo", size_t{16} << 20);
  const auto mounts = read_mount_table(table.ok() ? table.value() : "");
  const bool at_mount =
      std::any_of(mounts.begin(), mounts.end(), [](const Mount& m) { return m.point == "/"; });
  if (table.ok() && !at_mount) return true;
  struct stat ours {};
  struct stat firsts {};
  const auto here = sys::read_link("/proc/self/ns/mnt");
  const auto there = sys::read_link("/proc/1/ns/mnt");
  return here.ok() && there.ok() && here.value() == there.value() && ::stat("/", &ours) == 0 &&
         ::stat("/proc/1/root/", &firsts) == 0 &&
         (ours.st_dev != firsts.st_dev || ours.st_ino != firsts.st_ino);
}

}  // namespace

int offered_landlock_abi() {
#ifdef CLOCHE_TEST_HOOKS
  // Only in builds for tests: how an older kernel is met. A release has no such knob.
  if (const char* text = std::getenv("CLOCHE_TEST_LANDLOCK_ABI"))
    return std::atoi(text);  // NOLINT(cert-err34-c)
#endif
  return kernel::landlock_abi();
}

UserNamespaceSwitches user_namespace_switches() {
  return {.most = sysctl("/proc/sys/user/max_user_namespaces", 1),
          .by_users = sysctl("/proc/sys/kernel/unprivileged_userns_clone", 1),
          .restricted = sysctl("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 0),
          .chrooted = is_chrooted(),
          .filtered = ::prctl(PR_GET_SECCOMP) > 0};
}

std::string fix_for_user_namespaces(const UserNamespaceSwitches& switches) {
  if (switches.most <= 0) return "sysctl -w user.max_user_namespaces=15000";
  if (switches.by_users == 0) return "sysctl -w kernel.unprivileged_userns_clone=1";
  if (switches.restricted != 0) return "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0";
  if (switches.chrooted)
    return "start it outside of the chroot, in which the kernel allows no user namespace";
  if (switches.filtered)
    return "allow clone, unshare and mount in the seccomp profile of the container or service around Cloche";
  return {};
}

Error with_cause_seen(Error error) {
  if (error.layer != LayerId::user_ids || error.number != EPERM) return error;
  std::string fix = fix_for_user_namespaces(user_namespace_switches());
  if (!fix.empty()) error.fix = std::move(fix);
  return error;
}

HostProbe probe_host() {
  HostProbe probe;
  probe.landlock_abi = offered_landlock_abi();
  probe.has_filter = ::prctl(PR_GET_SECCOMP) >= 0;
  probe.user_namespaces = sysctl("/proc/sys/user/max_user_namespaces", 1) > 0;
  if (!probe.user_namespaces) probe.user_namespaces_fix = fix_for_user_namespaces({.most = 0});
  return probe;
}

}  // namespace cloche
