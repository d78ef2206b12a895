#include "confine/native/probe.hpp"

#include <gtest/gtest.h>

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
      {{.restricted = 1}, "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"},
      {{.filtered = true},
       "allow clone, unshare and mount in the seccomp profile of the container or service around Cloche"},
      {{.chrooted = true, .filtered = true},
       "start it outside of the chroot, in which the kernel allows no user namespace"},
      {{.restricted = 1, .filtered = true}, "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"},
      {{.most = 0, .by_users = 0, .restricted = 1}, "sysctl -w user.max_user_namespaces=15000"},
  };
  for (const auto& row : rows) EXPECT_EQ(fix_for_user_namespaces(row.switches), row.fix);
}

}  // namespace
}  // namespace cloche
