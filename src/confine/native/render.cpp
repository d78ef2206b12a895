#include <algorithm>

#include "confine/kernel_rules.hpp"
#include "confine/launch.hpp"
#include "model/network.hpp"
#include "model/plan.hpp"

namespace cloche {
namespace {

wire::MountKind kind_of(EntryKind kind) {
  switch (kind) {
    case EntryKind::directory: return wire::MountKind::directory;
    case EntryKind::link: return wire::MountKind::link;
    case EntryKind::text: return wire::MountKind::text;
    case EntryKind::tree: return wire::MountKind::tree;
    case EntryKind::tmpfs: return wire::MountKind::tmpfs;
    case EntryKind::proc: return wire::MountKind::proc;
    case EntryKind::terminals: return wire::MountKind::pts;
    case EntryKind::queues: return wire::MountKind::queues;
  }
  return wire::MountKind::directory;
}

uint32_t flags_of(const ViewEntry& entry) {
  uint32_t flags = 0;
  const bool writes = entry.access == Access::write || entry.access == Access::write_run;
  const bool runs = entry.access == Access::run || entry.access == Access::write_run;
  // A device node is written through, not to; a read-only mount would say nothing about it.
  if (!writes && entry.access != Access::device) flags |= wire::read_only;
  if (!runs) flags |= wire::no_exec;
  if (entry.access == Access::device) flags |= wire::devices;
  if (entry.file) flags |= wire::plain_file;
  if (entry.recursive) flags |= wire::recursive;
  if (entry.owned) flags |= wire::owned;
  return flags;
}

wire::MountText mount_of(const CallResources::Ready& ready, wire::MountKind kind, std::string target,
                         uint32_t flags) {
  wire::MountText mount;
  mount.kind = kind;
  mount.flags = wire::read_only | wire::no_exec | flags;
  mount.source = ready.directory;
  mount.target = std::move(target);
  mount.judged = {ready.device, ready.inode};
  return mount;
}

// What a skeleton holds already. Of everything else it has the mount point.
bool is_ready(const CallResources::Skeleton& skeleton, const ViewEntry& entry) {
  return is_still(entry) ||
         (skeleton.has_devices && entry.kind == EntryKind::tree && entry.access == Access::device);
}

std::vector<wire::MountText> mounts_for(const ConfinementPlan& plan, const CallResources& resources) {
  std::vector<wire::MountText> mounts;
  const auto& skeleton = resources.skeleton;
  if (skeleton) {
    const uint32_t devices = skeleton->has_devices ? wire::devices : 0U;
    mounts.push_back(mount_of(skeleton->root, wire::MountKind::root, "root", devices));
    if (skeleton->etc)
      mounts.push_back(mount_of(*skeleton->etc, wire::MountKind::tree, "etc", wire::existing));
  }
  const Holders holders(plan);
  for (const auto& entry : plan.view) {
    const Holder holder = holders.of(entry);
    if (skeleton && holder == Holder::root && is_ready(*skeleton, entry)) continue;
    // In a tree of the host's nothing is ever made for a mount.
    mounts.push_back(mount_for(
        entry, holder == Holder::host_tree || (skeleton.has_value() && holder == Holder::root), resources));
  }
  return mounts;
}

std::vector<wire::Listener> listeners_for(const ConfinementPlan& plan) {
  std::vector<wire::Listener> listeners;
  if (plan.network == Network::of_host) return listeners;
  const auto add = [&](const std::vector<NetworkListener>& some) {
    for (const auto& listener : some) {
      const uint32_t stream = listener.kind == NetworkListener::Kind::stream ? 1 : 0;
      listeners.push_back({stream, listener.port, listener.address});
    }
  };
  add(shape_of(plan.hosts).listeners);
  if (!plan.published.empty()) add(connectors());
  return listeners;
}

std::vector<Layer> layers_for(const ConfinementPlan& plan, const HostProbe& probe,
                              const CallResources& resources) {
  std::vector<Layer> layers = {
      {LayerId::user_ids, resources.privileged ? "userns+own-id" : "userns"},
      {LayerId::mount_view, "mountns+pivot_root"},
      {LayerId::pid_namespace, "pidns"},
      {LayerId::net_namespace, "netns"},
      {LayerId::ipc_namespace, "ipcns"},
      {LayerId::uts_namespace, "utsns"},
      {LayerId::cgroup_namespace, "cgroupns"},
      {LayerId::syscall_filter, "seccomp"},
      {LayerId::no_new_privileges, "prctl"},
      {LayerId::no_capabilities, "capset+securebits"},
      {LayerId::session_keyring, "keyctl"},
      {LayerId::memory_limit, std::string(name_of(resources.memory_by))},
      {LayerId::process_limit, resources.memory_by == CountedBy::watched
                                   ? "rlimit-userns"
                                   : std::string(name_of(resources.memory_by)) + "+rlimit-userns"},
  };
  add_landlock(layers, plan, probe);
  std::ranges::stable_sort(layers, {}, &Layer::id);  // as all_layers has them
  leave_out_shared(layers, plan);
  return layers;
}

}  // namespace

void add_landlock(std::vector<Layer>& layers, const ConfinementPlan& plan, const HostProbe& probe) {
  const LandlockSupport support = landlock_support(plan.level, probe.landlock_abi);
  if (!support.files_by.empty()) layers.push_back({LayerId::landlock, support.files_by});
  if (!support.scope_by.empty()) layers.push_back({LayerId::landlock_scope, support.scope_by});
}

void leave_out_shared(std::vector<Layer>& layers, const ConfinementPlan& plan) {
  if (plan.network == Network::of_host)
    std::erase_if(layers, [](const Layer& layer) { return layer.id == LayerId::net_namespace; });
}

bool is_still(const ViewEntry& entry) {
  return entry.kind == EntryKind::directory || entry.kind == EntryKind::link ||
         entry.kind == EntryKind::text || entry.copied;
}

wire::MountText mount_for(const ViewEntry& entry, bool existing, const CallResources& resources) {
  wire::MountText mount;
  mount.kind = kind_of(entry.kind);
  mount.flags = flags_of(entry) | (existing ? wire::existing : 0U);
  mount.mode = entry.mode;
  mount.owner_uid = entry.owner_uid;
  mount.owner_gid = entry.owner_gid;
  mount.size_bytes = entry.size_bytes;
  mount.files = files_of_memory(entry.size_bytes);
  mount.judged = {entry.device, entry.inode};
  mount.target = entry.target.substr(1);
  mount.source = entry.source;
  mount.content = entry.content;
  if (entry.layered) {
    // Without a layer the jail is given one without an identity, and refuses the plan.
    const auto found = resources.layers.find(entry.target);
    const CallResources::Ready layers =
        found != resources.layers.end() ? found->second : CallResources::Ready{};
    mount.kind = wire::MountKind::overlay;
    mount.layers = layers.directory;
    mount.judged_layers = {layers.device, layers.inode};
  }
  return mount;
}

namespace {

std::string offered_and(const HostProbe& probe, int least) {
  return "the kernel offers Landlock ABI " + std::to_string(std::max(probe.landlock_abi, 0)) + ", and " +
         std::to_string(least) + " is the least that ";
}

MissingLayer missing_landlock(const ConfinementPlan& plan, const HostProbe& probe) {
  if (plan.level == IsolationLevel::subprocess) {
    return {
        LayerId::landlock,
        offered_and(probe, least_alone_landlock_abi) + "keeps files away; without a box nothing else does",
        "boot Linux 5.13 or newer with landlock in the lsm= list, or use --isolation namespace"};
  }
  std::string fix = "boot Linux 5.19 or newer with landlock in the lsm= list";
  if (plan.level == IsolationLevel::namespaces)
    fix += ", or go on without it: \"landlock\": \"optional\" in the configuration";
  return {LayerId::landlock,
          offered_and(probe, least_landlock_abi) +
              "checks files a second time and lets them be moved between directories",
          std::move(fix)};
}

// The level subprocess has the scope wherever it has Landlock; elsewhere only a network of the host's needs
// it.
MissingLayer missing_scope(const HostProbe& probe) {
  return {LayerId::landlock_scope,
          offered_and(probe, scoping_landlock_abi) + "keeps the abstract sockets of the host's network away",
          "boot Linux 6.12 or newer, or leave --net-host out"};
}

}  // namespace

std::vector<MissingLayer> missing_layers(const ConfinementPlan& plan, const HostProbe& probe) {
  std::vector<MissingLayer> missing;
  const auto needs = [&](LayerId layer) {
    return std::find(plan.required.begin(), plan.required.end(), layer) != plan.required.end();
  };
  if (needs(LayerId::user_ids) && !probe.user_namespaces) {
    missing.push_back(
        {LayerId::user_ids, "user namespaces cannot be created here", probe.user_namespaces_fix});
  }
  const LandlockSupport support = landlock_support(plan.level, probe.landlock_abi);
  if (needs(LayerId::landlock) && support.files_by.empty()) missing.push_back(missing_landlock(plan, probe));
  // Without a box it comes and goes with the other.
  const bool said = plan.level == IsolationLevel::subprocess && needs(LayerId::landlock);
  if (needs(LayerId::landlock_scope) && support.scope_by.empty() && !said)
    missing.push_back(missing_scope(probe));
  if (needs(LayerId::syscall_filter) && !probe.has_filter) {
    missing.push_back({LayerId::syscall_filter, "the kernel has no seccomp filter",
                       "boot a kernel with CONFIG_SECCOMP_FILTER"});
  }
  return missing;
}

LaunchSpec render(const ConfinementPlan& plan, const HostProbe& probe, const CallResources& resources) {
  LaunchSpec spec;
  wire::PlanText& jail = spec.jail;
  jail.flags = (resources.privileged ? wire::privileged : 0U) | (plan.terminal ? wire::terminal : 0U) |
               (plan.debugging ? wire::debugging : 0U) | (plan.plain_directory ? wire::plain_directory : 0U) |
               (plan.network == Network::of_host ? wire::host_network : 0U) |
               (resources.memory_by == CountedBy::watched ? wire::watched_memory : 0U);
  jail.inside_uid = plan.inside_uid;
  jail.inside_gid = plan.inside_gid;
  jail.outside_uid = resources.outside_uid;
  jail.outside_gid = resources.outside_gid;
  jail.umask = plan.umask;
  jail.landlock_abi = static_cast<uint32_t>(landlock_support(plan.level, probe.landlock_abi).abi);
  jail.directory = plan.directory;
  jail.judged_directory = resources.directory;
  jail.mounts = mounts_for(plan, resources);
  if (jail.landlock_abi != 0) jail.rules = rules_for(plan);
  jail.limits = limits_for(plan.limits, resources.memory_by);
  jail.listeners = listeners_for(plan);
  jail.programs = program_candidates(plan);
  jail.argv = plan.argv;
  jail.env = environment_words(plan);
  spec.layers = layers_for(plan, probe, resources);
  return spec;
}

}  // namespace cloche
