#include "confine/boxes/box_stage.hpp"

#include <algorithm>

#include "base/sys/path.hpp"
#include "confine/boxes/bwrap.hpp"
#include "confine/boxes/oci.hpp"
#include "model/plan.hpp"

namespace cloche {
namespace {

const std::string stage = "/tmp/";

// Where an entry of the view lies on the stage, relative to it.
std::string place_of(size_t at) { return "entry/" + std::to_string(at); }

wire::MountText stage_entry(wire::MountKind kind, std::string target, std::string content = {}) {
  wire::MountText mount;
  mount.kind = kind;
  mount.target = std::move(target);
  mount.content = std::move(content);
  mount.mode = kind == wire::MountKind::text ? 0644 : 0755;
  return mount;
}

// The curated /etc, some twenty entries, as the one tree that has them ready-made. Every mount costs a tool
// time, and bubblewrap reads the list of all that are there for each.
ConfinementPlan with_ready_etc(const ConfinementPlan& plan, const CallResources::Ready& etc) {
  const Holders holders(plan);
  const auto is_in_it = [&](const ViewEntry& entry) {
    return is_beneath("/etc", entry.target) && is_still(entry) && holders.of(entry) == Holder::root;
  };
  ConfinementPlan shorter = plan;
  shorter.view.clear();
  shorter.view.push_back({.kind = EntryKind::tree,
                          .access = Access::read,
                          .target = "/etc",
                          .source = etc.directory,
                          .device = etc.device,
                          .inode = etc.inode});
  for (const auto& entry : plan.view) {
    if (!is_in_it(entry)) shorter.view.push_back(entry);
  }
  return shorter;
}

// Of every tree a clone, of every text a file; the rest the box makes by itself.
void stage_view(const ConfinementPlan& plan, const CallResources& resources,
                std::vector<wire::MountText>& mounts, BoxParts& parts) {
  for (size_t at = 0; at < plan.view.size(); ++at) {
    const ViewEntry& entry = plan.view[at];
    if (is_made_in_dev(entry)) continue;
    if (entry.kind == EntryKind::text) {
      mounts.push_back(stage_entry(wire::MountKind::text, place_of(at), entry.content));
      mounts.back().mode = entry.mode;
      parts.texts[at] = stage + place_of(at);
    } else if (entry.kind == EntryKind::tree) {
      mounts.push_back(mount_for(entry, false, resources));
      mounts.back().target = place_of(at);
      parts.trees[at] = stage + place_of(at);
    }
  }
}

void stage_jail(const std::string& jail, std::vector<wire::MountText>& mounts, BoxParts& parts) {
  mounts.push_back(stage_entry(wire::MountKind::tree, "jail"));
  mounts.back().source = jail;
  mounts.back().flags = wire::read_only | wire::plain_file;
  parts.jail = stage + "jail";
}

// In a file and not on the command line, which every user of the host can read: the values of variables are
// among them.
Result<void> say_to_bwrap(const ConfinementPlan& plan, const BoxParts& parts, wire::PlanText& jail) {
  const std::vector<std::string> words = bwrap_arguments(plan, parts);
  TRY(check_bwrap_words(words));
  const auto command = std::find(words.begin(), words.end(), "--");
  std::string said;
  for (auto word = words.begin(); word != command; ++word) said += *word + '\0';
  jail.mounts.push_back(stage_entry(wire::MountKind::text, "args", std::move(said)));
  jail.argv = {"bwrap", "--args", std::to_string(wire::plan_fd)};
  jail.argv.insert(jail.argv.end(), command, words.end());
  return {};
}

Result<void> stage_bundle(const ConfinementPlan& plan, const OciOptions& options, wire::PlanText& jail) {
  std::string config = TRY(oci_config(plan, options));
  jail.mounts.push_back(stage_entry(wire::MountKind::directory, "bundle"));
  jail.mounts.push_back(stage_entry(wire::MountKind::text, "bundle/config.json", std::move(config)));
  jail.mounts.push_back(stage_entry(wire::MountKind::directory, "bundle/rootfs"));
  for (const auto& entry : rootfs_entries(plan, options.kernel)) {
    using Kind = RootfsEntry::Kind;
    const std::string target = "bundle/rootfs" + entry.path;
    if (entry.kind == Kind::link) {
      jail.mounts.push_back(stage_entry(wire::MountKind::link, target));
      jail.mounts.back().source = entry.content;
    } else {
      const bool file = entry.kind == Kind::file;
      jail.mounts.push_back(stage_entry(file ? wire::MountKind::text : wire::MountKind::directory, target,
                                        file ? entry.content : ""));
      jail.mounts.back().mode = entry.mode & 01777U;
    }
  }
  if (options.report)
    jail.mounts.push_back(stage_entry(wire::MountKind::text, "bundle/rootfs" + report_inside(plan)));
  jail.mounts.push_back(stage_entry(wire::MountKind::directory, "state"));
  jail.mounts.back().mode = 0777;  // the runtime writes there, by the call's own id
  return {};
}

std::vector<std::string> runtime_words(Backend backend, const std::string& name) {
  if (backend == Backend::runsc) {
    return {"runsc",
            "--root",
            "/tmp/state",
            "--rootless",
            "--network=none",
            "--ignore-cgroups",
            "--platform=ptrace",
            "run",
            "--bundle",
            "/tmp/bundle",
            name};
  }
  std::vector<std::string> words = {std::string(name_of(backend)), "--root", "/tmp/state"};
  // The call has its group already. Crun sees none either (groupless): it refuses a host with both versions
  // at once even when it is to leave them alone.
  if (backend == Backend::crun) words.emplace_back("--cgroup-manager=disabled");
  // The keeper has one for the call, and has waited where the user's quota of them was full. A runtime's own
  // would count against that too, and it does not wait.
  words.insert(words.end(),
               {"run", "--no-new-keyring", "--bundle", "/tmp/bundle", "--preserve-fds", "2", name});
  return words;
}

// One id can be mapped without subordinate ones, and a runtime needs it to be 0; gVisor makes a namespace of
// its own.
Result<void> say_to_runtime(Backend backend, const ConfinementPlan& plan, const BoxParts& box,
                            const StagedParts& parts, wire::PlanText& jail) {
  OciOptions options;
  options.parts = box;
  options.inside_uid = 0;
  options.inside_gid = 0;
  options.parts.inner.becomes = true;
  options.highest_limits = parts.highest_limits;
  options.mounts = parts.mounts;
  if (backend == Backend::runsc) {
    options.kernel = BoxKernel::gvisor;
    options.report = stage + "report";
  } else {
    options.uids = {{0, jail.inside_uid, 1}};
    options.gids = {{0, jail.inside_gid, 1}};
  }
  jail.argv = runtime_words(backend, parts.name);
  return stage_bundle(plan, options, jail);
}

std::vector<Layer> layers_of(Backend backend, const ConfinementPlan& plan, const HostProbe& probe,
                             const CallResources& resources) {
  const std::string by(name_of(backend));
  const bool watched = resources.memory_by == CountedBy::watched;
  std::vector<Layer> layers = {
      {LayerId::user_ids, by + (resources.privileged ? "+own-id" : "")},
      {LayerId::mount_view, by},
      {LayerId::pid_namespace, by},
      {LayerId::net_namespace, by},
      {LayerId::ipc_namespace, by},
      {LayerId::uts_namespace, by},
      {LayerId::no_new_privileges, "prctl"},
      {LayerId::no_capabilities, "capset"},
      {LayerId::session_keyring, backend == Backend::runsc ? "sentry" : "keyctl"},
      {LayerId::syscall_filter, backend == Backend::runsc ? "sentry+seccomp" : "seccomp"},
      {LayerId::memory_limit, std::string(name_of(resources.memory_by))},
      {LayerId::process_limit,
       watched ? "rlimit-userns" : std::string(name_of(resources.memory_by)) + "+rlimit-userns"},
  };
  if (backend == Backend::runsc) return layers;
  layers.push_back({LayerId::cgroup_namespace, by});
  add_landlock(layers, plan, probe);
  leave_out_shared(layers, plan);
  return layers;
}

}  // namespace

std::vector<MissingLayer> staged_missing(Backend backend, const ConfinementPlan& plan,
                                         const HostProbe& probe) {
  auto missing = missing_layers(plan, probe);
  BoxParts parts;
  auto cannot = backend == Backend::bwrap ? bwrap_missing(plan, parts, Counted::by_us)
                                          : oci_missing(plan, OciOptions{.parts = parts});
  std::erase_if(cannot, [](const MissingLayer& layer) {
    return layer.id == LayerId::memory_limit || layer.id == LayerId::user_ids ||
           layer.id == LayerId::process_limit;
  });
  for (auto& layer : cannot) missing.push_back(std::move(layer));
  return missing;
}

Result<LaunchSpec> render_staged(Backend backend, const ConfinementPlan& judged, const HostProbe& probe,
                                 const CallResources& resources, const StagedParts& parts) {
  const ConfinementPlan plan = parts.etc ? with_ready_etc(judged, *parts.etc) : judged;
  const bool speechless = backend == Backend::runsc;
  LaunchSpec spec;
  spec.backend = backend;
  wire::PlanText& jail = spec.jail;
  jail.flags = wire::staged | (resources.privileged ? wire::privileged | wire::lowered : 0U) |
               (speechless ? wire::speechless : 0U) | (speechless && plan.terminal ? wire::terminal : 0U) |
               (backend == Backend::crun ? wire::groupless : 0U);
  // The namespace that the stage is made in maps one id, and to itself; that of a caller who is root of a
  // user namespace only to the plan's, because no process is root on a stage.
  jail.outside_uid = resources.outside_uid;
  jail.outside_gid = resources.outside_gid;
  jail.inside_uid = resources.outside_uid != 0 ? resources.outside_uid : plan.inside_uid;
  jail.inside_gid = resources.outside_gid != 0 ? resources.outside_gid : plan.inside_gid;
  BoxParts box;
  box.inner.watched = resources.memory_by == CountedBy::watched;
  if (speechless) {
    box.inner.landlock_abi = 0;
    box.inner.processor_by_host = true;
    box.inner.report = report_inside(plan);
  } else {
    box.inner.control = wire::control_fd;
    box.inner.directory = resources.directory;
    box.inner.landlock_abi = landlock_support(plan.level, probe.landlock_abi).abi;
  }
  stage_view(plan, resources, jail.mounts, box);
  stage_jail(parts.jail, jail.mounts, box);
  if (backend == Backend::bwrap) {
    TRY(say_to_bwrap(plan, box, jail));
  } else {
    TRY(say_to_runtime(backend, plan, box, parts, jail));
  }
  jail.programs = {parts.program};
  jail.env = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/tmp",
              "XDG_RUNTIME_DIR=/tmp"};
  spec.by_descendants = speechless;
  spec.layers = layers_of(backend, plan, probe, resources);
  return spec;
}

}  // namespace cloche
