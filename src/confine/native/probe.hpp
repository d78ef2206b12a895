// Asks this kernel what it offers. Cheap: it is asked before every call; the proof (proof.hpp) is what shows
// that it holds.
#pragma once

#include <string>

#include "confine/launch.hpp"

namespace cloche {

// What the kernel says; below 1 there is none.
int offered_landlock_abi();

HostProbe probe_host();

enum class Container { none, docker, podman, kubernetes };

// What a host says about user namespaces; the defaults are those of a kernel without such a switch.
struct UserNamespaceSwitches {
  long most = 1;          // user.max_user_namespaces
  long by_users = 1;      // kernel.unprivileged_userns_clone, Debian's
  long restricted = 0;    // kernel.apparmor_restrict_unprivileged_userns, Ubuntu's
  bool chrooted = false;  // our root is not that of our mount namespace: then the kernel allows none
  bool filtered = false;  // another program's filter is around us: a container's, a service's
  Container container = Container::none;
  std::string confined = {};  // the AppArmor profile around us; empty: none
  bool proc_is_masked =
      false;  // something is mounted over files of /proc: then a kernel may give no fresh one
  // share/apparmor/cloche as it came with these programs, or in /etc/apparmor.d; empty: it is not there.
  std::string profile = {};
  bool is_named_by_profile = false;  // whether that profile is for programs in the place where these are
};
UserNamespaceSwitches user_namespace_switches();
// The same from files below another root: what `chrooted` and `filtered` say is no file.
UserNamespaceSwitches switches_below(const std::string& root, const std::string& programs);

// The one thing to do that allows them; empty: nothing that can be seen is in the way.
std::string fix_for_user_namespaces(const UserNamespaceSwitches& switches);
// The same where the kernel gave no fresh /proc.
std::string fix_for_proc(const UserNamespaceSwitches& switches);

// Where the kernel only said no to user namespaces: with the cause that can be seen on this host, if any can.
Error with_cause_seen(Error error);

}  // namespace cloche
