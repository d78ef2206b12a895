#include "model/layers.hpp"

#include "model/names.hpp"

namespace cloche {

namespace {

constexpr std::string_view layer_names[] = {
    "user-ids",      "mount-view",        "pid-namespace",    "net-namespace",
    "ipc-namespace", "uts-namespace",     "cgroup-namespace", "syscall-filter",
    "landlock",      "no-new-privileges", "no-capabilities",  "session-keyring",
    "memory-limit",  "process-limit",     "landlock-scope",   "change-set"};

}  // namespace

std::string_view name_of(LayerId layer) { return name_in<LayerId::change_set>(layer_names, layer); }

std::optional<LayerId> layer_named(std::string_view name) { return value_in<LayerId>(layer_names, name); }

std::string_view name_of(IsolationLevel level) {
  static constexpr std::string_view names[] = {"permissive", "subprocess", "namespace",
                                               "container",  "gvisor",     "microvm"};
  return name_in<IsolationLevel::microvm>(names, level);
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
