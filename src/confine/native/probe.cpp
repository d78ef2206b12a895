#include "confine/native/probe.hpp"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/sys/mount_table.hpp"
#include "base/sys/sys.hpp"
#include "jail/core/kernel.hpp"
#include "model/layers.hpp"

namespace cloche {
namespace {

// The sysctl's number, or `absent` when this kernel does not have it.
long sysctl(const std::string& path, long absent) {
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

// How an error came that a switch of the host, or what is around us, may explain.
bool may_be_forbidden(const Error& error) {
  if (error.number != EPERM && error.number != EACCES) return false;
  return error.layer == LayerId::user_ids || error.layer == LayerId::mount_view ||
         error.layer == LayerId::pid_namespace || error.layer == LayerId::net_namespace;
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

UserNamespaceSwitches switches_below(const std::string& root, const std::string& programs) {
  const auto exists = [&](const std::string& path) { return ::access((root + path).c_str(), F_OK) == 0; };
  UserNamespaceSwitches switches{
      .most = sysctl(root + "/proc/sys/user/max_user_namespaces", 1),
      .by_users = sysctl(root + "/proc/sys/kernel/unprivileged_userns_clone", 1),
      .restricted = sysctl(root + "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 0)};
  const auto table = sys::read_file(root + "/proc/self/mountinfo", size_t{16} << 20);
  for (const Mount& mount : read_mount_table(table.ok() ? table.value() : "")) {
    // The kernel itself looks past what is mounted on a directory that is always empty.
    if (mount.point.starts_with("/proc/") && mount.point != "/proc/sys/fs/binfmt_misc")
      switches.proc_is_masked = true;
    if (mount.root.find("/kubelet/pods/") != std::string::npos) switches.container = Container::kubernetes;
  }
  if (exists("/var/run/secrets/kubernetes.io")) switches.container = Container::kubernetes;
  if (switches.container == Container::none && exists("/.dockerenv")) switches.container = Container::docker;
  if (switches.container == Container::none && exists("/run/.containerenv"))
    switches.container = Container::podman;
  // "docker-default (enforce)"
  const auto label = sys::read_small_file(root + "/proc/self/attr/apparmor/current");
  if (label.ok() && !label.value().starts_with("unconfined"))
    switches.confined = label.value().substr(0, label.value().find_first_of(" \n"));
  for (const std::string& path :
       {std::string("/etc/apparmor.d/cloche"),
        std::filesystem::path(programs + "/../share/cloche/apparmor/cloche").lexically_normal().string(),
        std::filesystem::path(programs + "/../../share/apparmor/cloche").lexically_normal().string()}) {
    if (!switches.profile.empty() || !exists(path)) continue;
    switches.profile = path;
    // As the profile itself has it.
    for (const char* place : {"/usr", "/usr/local", "/opt/cloche"})
      for (const char* folder : {"/bin", "/lib/cloche", "/libexec/cloche"})
        if (programs == std::string(place) + folder) switches.is_named_by_profile = true;
  }
  return switches;
}

UserNamespaceSwitches user_namespace_switches() {
  const auto self = sys::read_link("/proc/self/exe");
  const std::string program = self.ok() ? self.value() : "";
  UserNamespaceSwitches switches = switches_below("", program.substr(0, program.rfind('/')));
  switches.chrooted = is_chrooted();
  switches.filtered = ::prctl(PR_GET_SECCOMP) > 0;
  return switches;
}

namespace {

// Each flag where what it takes away can be seen; never all of a container's protection at once.
std::string fix_for_container(const UserNamespaceSwitches& switches) {
  const bool kubernetes = switches.container == Container::kubernetes;
  std::vector<std::string> flags;
  if (switches.filtered)
    flags.emplace_back(kubernetes ? "seccompProfile: {type: Localhost, localhostProfile: FILE}"
                                  : "--security-opt seccomp=FILE");
  if (!switches.confined.empty())
    flags.emplace_back(kubernetes ? "appArmorProfile: {type: Unconfined}"
                                  : "--security-opt apparmor=unconfined");
  if (flags.empty()) return {};
  std::string text =
      kubernetes ? "set in the pod's and the container's securityContext: " : "start the container with ";
  for (const std::string& flag : flags) text += (&flag == flags.data() ? "" : kubernetes ? ", " : " ") + flag;
  return text + (switches.filtered ? " (docs/hosts.md has FILE)" : "");
}

// The system lets only those programs make user namespaces that a profile says it of. Never the sysctl, which
// would let every program.
std::string fix_for_restriction(const UserNamespaceSwitches& switches) {
  constexpr const char* installed = "/etc/apparmor.d/cloche";
  if (!switches.profile.empty() && !switches.is_named_by_profile)
    return "install Cloche below /usr/local (cmake --install build/release --prefix /usr/local) and load its "
           "AppArmor "
           "profile from there, which allows user namespaces to cloche-jail alone (docs/hosts.md)";
  const std::string file = switches.profile.empty() ? "share/apparmor/cloche" : switches.profile;
  return std::string("load the AppArmor profile that allows user namespaces to cloche-jail alone: ") +
         (file == installed ? "" : "sudo install -m 644 " + file + " " + installed + " && ") +
         "sudo apparmor_parser -r " + installed;
}

}  // namespace

std::string fix_for_proc(const UserNamespaceSwitches& switches) {
  if (!switches.proc_is_masked) return {};
  switch (switches.container) {
    case Container::none: return {};
    case Container::docker: return "start the container with --security-opt systempaths=unconfined";
    case Container::podman: return "start the container with --security-opt unmask=ALL";
    case Container::kubernetes:
      return "set in the container's securityContext procMount: Unmasked, and in the pod hostUsers: false";
  }
  return {};
}

std::string fix_for_user_namespaces(const UserNamespaceSwitches& switches) {
  if (switches.most <= 0) return "sysctl -w user.max_user_namespaces=15000";
  if (switches.by_users == 0) return "sysctl -w kernel.unprivileged_userns_clone=1";
  if (switches.container != Container::none) {
    if (std::string flags = fix_for_container(switches); !flags.empty()) return flags;
  }
  if (switches.restricted != 0 && !switches.filtered) return fix_for_restriction(switches);
  if (switches.chrooted)
    return "start it outside of the chroot, in which the kernel allows no user namespace";
  if (switches.filtered)
    return "allow clone, unshare and mount in the seccomp profile of the container or service around Cloche";
  return {};
}

Error with_cause_seen(Error error) {
  if (!may_be_forbidden(error)) return error;
  const UserNamespaceSwitches switches = user_namespace_switches();
  std::string fix;
  if (error.layer == LayerId::user_ids) {
    fix = fix_for_user_namespaces(switches);
  } else if (error.layer == LayerId::pid_namespace) {
    fix = fix_for_proc(switches);
  } else if (switches.container != Container::none) {
    fix = fix_for_container(switches);
  }
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
