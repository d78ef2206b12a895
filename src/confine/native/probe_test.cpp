#include "confine/native/probe.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "base/scratch.hpp"

namespace cloche {
namespace {

TEST(UserNamespaces, TheOneCommandThatAllowsThem) {
  struct Row {
    UserNamespaceSwitches switches;
    const char* fix;
  };
  const Row rows[] = {
      {{}, ""},
      {{.most = 0}, "sysctl -w user.max_user_namespaces=15000"},
      {{.by_users = 0}, "sysctl -w kernel.unprivileged_userns_clone=1"},
      {{.restricted = 1},
       "load the AppArmor profile that allows user namespaces to cloche-jail alone: sudo install -m 644 "
       "share/apparmor/cloche /etc/apparmor.d/cloche && sudo apparmor_parser -r /etc/apparmor.d/cloche"},
      {{.restricted = 1, .profile = "/usr/share/cloche/apparmor/cloche", .is_named_by_profile = true},
       "load the AppArmor profile that allows user namespaces to cloche-jail alone: sudo install -m 644 "
       "/usr/share/cloche/apparmor/cloche /etc/apparmor.d/cloche && sudo apparmor_parser -r "
       "/etc/apparmor.d/cloche"},
      {{.restricted = 1, .profile = "/etc/apparmor.d/cloche", .is_named_by_profile = true},
       "load the AppArmor profile that allows user namespaces to cloche-jail alone: sudo apparmor_parser -r "
       "/etc/apparmor.d/cloche"},
      {{.restricted = 1, .profile = "/home/u/cloche/share/apparmor/cloche"},
       "install Cloche below /usr/local (cmake --install build/release --prefix /usr/local) and load its "
       "AppArmor profile from there, which allows user namespaces to cloche-jail alone (docs/hosts.md)"},
      {{.filtered = true},
       "allow clone, unshare and mount in the seccomp profile of the container or service around Cloche"},
      {{.chrooted = true, .filtered = true},
       "start it outside of the chroot, in which the kernel allows no user namespace"},
      // Where the filter refuses first, the profile is not what is missing.
      {{.restricted = 1, .filtered = true},
       "allow clone, unshare and mount in the seccomp profile of the container or service around Cloche"},
      {{.most = 0, .by_users = 0, .restricted = 1}, "sysctl -w user.max_user_namespaces=15000"},
      {{.filtered = true,
        .container = Container::docker,
        .confined = "docker-default",
        .proc_is_masked = true},
       "start the container with --security-opt seccomp=FILE --security-opt apparmor=unconfined "
       "(docs/hosts.md has FILE)"},
      {{.container = Container::docker, .confined = "docker-default"},
       "start the container with --security-opt apparmor=unconfined"},
      {{.filtered = true, .container = Container::podman},
       "start the container with --security-opt seccomp=FILE (docs/hosts.md has FILE)"},
      {{.filtered = true, .container = Container::kubernetes, .confined = "x"},
       "set in the pod's and the container's securityContext: seccompProfile: {type: Localhost, "
       "localhostProfile: FILE}, appArmorProfile: {type: Unconfined} (docs/hosts.md has FILE)"},
      // A container that takes nothing away, on a host that restricts them.
      {{.restricted = 1,
        .container = Container::docker,
        .profile = "/etc/apparmor.d/cloche",
        .is_named_by_profile = true},
       "load the AppArmor profile that allows user namespaces to cloche-jail alone: sudo apparmor_parser -r "
       "/etc/apparmor.d/cloche"},
  };
  for (const auto& row : rows) {
    const std::string fix = fix_for_user_namespaces(row.switches);
    EXPECT_EQ(fix, row.fix);
    EXPECT_EQ(fix.find("--privileged"), std::string::npos) << fix;
    EXPECT_EQ(fix.find("apparmor_restrict"), std::string::npos) << fix;
  }
}

TEST(UserNamespaces, TheFlagThatBringsAFreshProc) {
  EXPECT_EQ(fix_for_proc({}), "");
  EXPECT_EQ(fix_for_proc({.proc_is_masked = true}), "") << "no container, so nothing that can be said";
  EXPECT_EQ(fix_for_proc({.container = Container::docker}), "");
  EXPECT_EQ(fix_for_proc({.container = Container::docker, .proc_is_masked = true}),
            "start the container with --security-opt systempaths=unconfined");
  EXPECT_EQ(fix_for_proc({.container = Container::podman, .proc_is_masked = true}),
            "start the container with --security-opt unmask=ALL");
  EXPECT_EQ(fix_for_proc({.container = Container::kubernetes, .proc_is_masked = true}),
            "set in the container's securityContext procMount: Unmasked, and in the pod hostUsers: false");
}

// A host that is only its files.
struct FakeHost {
  Scratch root;
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root.path + path).parent_path());
    std::ofstream(root.path + path) << text;
  }
  UserNamespaceSwitches seen(const std::string& programs = "/usr/bin") const {
    return switches_below(root.path, programs);
  }
};

TEST(UserNamespaces, AKernelWithoutASwitchAllowsThem) {
  const UserNamespaceSwitches seen = FakeHost().seen();
  EXPECT_GT(seen.most, 0);
  EXPECT_EQ(seen.by_users, 1);
  EXPECT_EQ(seen.restricted, 0);
  EXPECT_EQ(seen.container, Container::none);
  EXPECT_EQ(seen.confined, "");
  EXPECT_FALSE(seen.proc_is_masked);
  EXPECT_EQ(seen.profile, "");
}

TEST(UserNamespaces, AnUbuntuIsRecognised) {
  const FakeHost host;
  host.write("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n");
  host.write("/proc/sys/kernel/unprivileged_userns_clone", "1\n");
  host.write("/proc/sys/user/max_user_namespaces", "30000\n");
  host.write("/proc/self/attr/apparmor/current", "unconfined\n");
  host.write("/proc/self/mountinfo", "30 24 0:35 / /proc/sys/fs/binfmt_misc rw - autofs systemd-1 rw\n");
  host.write("/usr/share/cloche/apparmor/cloche", "profile\n");
  const UserNamespaceSwitches seen = host.seen();
  EXPECT_EQ(seen.restricted, 1);
  EXPECT_EQ(seen.confined, "");
  EXPECT_FALSE(seen.proc_is_masked);
  EXPECT_EQ(seen.profile, "/usr/share/cloche/apparmor/cloche");
  EXPECT_TRUE(seen.is_named_by_profile);
  EXPECT_FALSE(host.seen("/home/u/.local/bin").is_named_by_profile);
  host.write("/home/u/.local/share/cloche/apparmor/cloche", "profile\n");
  EXPECT_EQ(host.seen("/home/u/.local/bin").profile, "/home/u/.local/share/cloche/apparmor/cloche");
  host.write("/etc/apparmor.d/cloche", "profile\n");
  EXPECT_EQ(host.seen().profile, "/etc/apparmor.d/cloche");
}

TEST(UserNamespaces, ContainersAreToldApart) {
  const FakeHost docker;
  docker.write("/.dockerenv", "");
  docker.write("/proc/self/attr/apparmor/current", "docker-default (enforce)\n");
  docker.write("/proc/self/mountinfo",
               "500 499 0:60 / /proc rw - proc proc rw\n501 500 0:61 / /proc/kcore rw - tmpfs tmpfs rw\n");
  EXPECT_EQ(docker.seen().container, Container::docker);
  EXPECT_EQ(docker.seen().confined, "docker-default");
  EXPECT_TRUE(docker.seen().proc_is_masked);
  const FakeHost podman;
  podman.write("/run/.containerenv", "");
  EXPECT_EQ(podman.seen().container, Container::podman);
  const FakeHost pod;
  pod.write("/proc/self/mountinfo",
            "510 499 8:1 /var/lib/kubelet/pods/1/etc-hosts /etc/hosts rw - ext4 /dev/sda1 rw\n");
  EXPECT_EQ(pod.seen().container, Container::kubernetes);
  docker.write("/var/run/secrets/kubernetes.io/token", "");
  EXPECT_EQ(docker.seen().container, Container::kubernetes);
}

// The list in the code is the one in the profile.
TEST(UserNamespaces, TheProfileNamesThePlacesThatTheCodeThinksItNames) {
  std::ifstream file(CLOCHE_SOURCE_DIR "/share/apparmor/cloche");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(
      text.find(
          "profile cloche-jail /{usr,usr/local,opt/cloche}/{bin,lib/cloche,libexec/cloche}/cloche-jail "),
      std::string::npos);
}

}  // namespace
}  // namespace cloche
