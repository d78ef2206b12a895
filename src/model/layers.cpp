#include "model/layers.hpp"

namespace cloche {

std::string_view name_of(LayerId layer) {
  switch (layer) {
    case LayerId::user_ids: return "user-ids";
    case LayerId::mount_view: return "mount-view";
    case LayerId::pid_namespace: return "pid-namespace";
    case LayerId::net_namespace: return "net-namespace";
    case LayerId::ipc_namespace: return "ipc-namespace";
    case LayerId::uts_namespace: return "uts-namespace";
    case LayerId::cgroup_namespace: return "cgroup-namespace";
    case LayerId::syscall_filter: return "syscall-filter";
    case LayerId::landlock: return "landlock";
    case LayerId::no_new_privileges: return "no-new-privileges";
    case LayerId::no_capabilities: return "no-capabilities";
    case LayerId::session_keyring: return "session-keyring";
    case LayerId::memory_limit: return "memory-limit";
    case LayerId::process_limit: return "process-limit";
    case LayerId::landlock_scope: return "landlock-scope";
    case LayerId::change_set: return "change-set";
  }
  return "unknown";
}

std::optional<LayerId> layer_named(std::string_view name) {
  for (const LayerId layer : all_layers) {
    if (name_of(layer) == name) return layer;
  }
  return std::nullopt;
}

std::string_view name_of(IsolationLevel level) {
  switch (level) {
    case IsolationLevel::permissive: return "permissive";
    case IsolationLevel::subprocess: return "subprocess";
    case IsolationLevel::namespaces: return "namespace";
    case IsolationLevel::container: return "container";
    case IsolationLevel::gvisor: return "gvisor";
    case IsolationLevel::microvm: return "microvm";
  }
  return "unknown";
}

std::vector<LayerId> required_by(IsolationLevel level) {
  if (level == IsolationLevel::permissive) return {};
  if (level == IsolationLevel::subprocess) {
    return {LayerId::syscall_filter,    LayerId::landlock,        LayerId::landlock_scope,
            LayerId::no_new_privileges, LayerId::no_capabilities, LayerId::session_keyring,
            LayerId::memory_limit,      LayerId::process_limit};
  }
  if (level == IsolationLevel::gvisor) {  // its kernel is the wall, and knows no Landlock
    return {LayerId::user_ids,       LayerId::mount_view,        LayerId::pid_namespace,
            LayerId::net_namespace,  LayerId::ipc_namespace,     LayerId::uts_namespace,
            LayerId::syscall_filter, LayerId::no_new_privileges, LayerId::no_capabilities,
            LayerId::memory_limit,   LayerId::process_limit};
  }
  std::vector<LayerId> required;
  for (LayerId layer : all_layers) {
    if (layer != LayerId::landlock_scope && layer != LayerId::change_set) required.push_back(layer);
  }
  return required;
}

}  // namespace cloche
