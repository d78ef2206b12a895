// Layers: promises, each with the mechanism that keeps it. A level requires a set, a backend offers a set,
// and an outcome reports what held and by what.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cloche {

enum class LayerId : int {
  user_ids,           // an id outside that is not the caller's, or a user namespace that maps one id alone
  mount_view,         // an empty root filled by a list
  pid_namespace,      // no other process is visible, and all end together
  net_namespace,      // loopback alone
  ipc_namespace,      // no System V or POSIX queue of the host
  uts_namespace,      // a host name of its own
  cgroup_namespace,   // the host's cgroup paths are not visible
  syscall_filter,     // default-deny seccomp
  landlock,           // the file list again, by another mechanism of the kernel
  no_new_privileges,  // set-id programs raise nothing
  no_capabilities,    // none held, none to be had
  session_keyring,    // a fresh one
  memory_limit,       // of everything in the call together
  process_limit,      // likewise
  landlock_scope,     // signals and abstract sockets stay inside, by Landlock (the namespaces do it too)
  change_set,         // what is written reaches the project only after it was judged
};
inline constexpr LayerId all_layers[] = {
    LayerId::user_ids,      LayerId::mount_view,        LayerId::pid_namespace,    LayerId::net_namespace,
    LayerId::ipc_namespace, LayerId::uts_namespace,     LayerId::cgroup_namespace, LayerId::syscall_filter,
    LayerId::landlock,      LayerId::no_new_privileges, LayerId::no_capabilities,  LayerId::session_keyring,
    LayerId::memory_limit,  LayerId::process_limit,     LayerId::landlock_scope,   LayerId::change_set};

std::string_view name_of(LayerId layer);
std::optional<LayerId> layer_named(std::string_view name);

struct Layer {
  LayerId id = LayerId::user_ids;
  std::string by;  // the mechanism: "userns", "cgroup1", "watched", ...
};

// A promise that this host cannot keep, and what would change that.
struct MissingLayer {
  LayerId id = LayerId::user_ids;
  std::string why;
  std::string fix;
};

enum class IsolationLevel { permissive, subprocess, namespaces, container, gvisor, microvm };
std::string_view name_of(IsolationLevel level);

// Whether a plan has layers for what is written is its own (Writes), and no part of a level.
// Everything else but landlock_scope for `namespaces` and `container`, whose own pid and net namespace keep
// that promise on kernels that are older than the scope.
std::vector<LayerId> required_by(IsolationLevel level);

}  // namespace cloche
