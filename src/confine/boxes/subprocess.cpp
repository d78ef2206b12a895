#include "confine/boxes/subprocess.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <map>

#include "base/sys/path.hpp"
#include "confine/boxes/box_parts.hpp"
#include "confine/boxes/inner_command.hpp"
#include "confine/kernel_rules.hpp"

namespace cloche {
namespace {

using Places = std::map<std::string, std::string>;

bool is_memory(const ViewEntry& entry) {
  return entry.kind == EntryKind::tmpfs && entry.access != Access::none;
}

// A tmpfs of the view that holds a file of Cloche's: a script, or the configuration of a hardened command.
bool holds_text(const ConfinementPlan& plan, const ViewEntry& memory) {
  return std::any_of(plan.view.begin(), plan.view.end(), [&](const ViewEntry& entry) {
    return entry.kind == EntryKind::text && parent_of(entry.target) == memory.target;
  });
}

// Where what the view shows elsewhere really is. Only places that a command knows from its environment or
// from words of ours: home, /tmp, and files of Cloche's.
Places moved_places(const ConfinementPlan& plan, const std::string& scratch) {
  Places moved;
  size_t files = 0;
  for (const auto& entry : plan.view) {
    const bool of_ours = entry.role == EntryRole::placed && entry.source != entry.target;
    if (of_ours) moved[entry.target] = entry.source;
    const bool loose = entry.kind == EntryKind::text && !is_beneath("/etc", entry.target);
    if (loose)
      moved.try_emplace(std::string(parent_of(entry.target)), scratch + "/files/" + std::to_string(files++));
    if (!is_memory(entry) || is_beneath("/dev", entry.target)) continue;
    if (holds_text(plan, entry)) {
      moved.try_emplace(entry.target, scratch + "/files/" + std::to_string(files++));
    } else if (entry.target == "/tmp") {
      moved[entry.target] = scratch + "/tmp";
    } else {
      moved[entry.target] = scratch + "/home";
    }
  }
  return moved;
}

// By the innermost place: a workspace in /tmp stays where it is.
std::string moved(const ConfinementPlan& plan, const Places& places, const std::string& path) {
  std::string_view innermost;
  const auto look_at = [&](const std::string& target) {
    if (is_beneath(target, path) && target.size() > innermost.size()) innermost = target;
  };
  for (const auto& entry : plan.view) look_at(entry.target);
  for (const auto& [from, to] : places) look_at(from);
  const auto place = places.find(std::string(innermost));
  if (place != places.end()) return place->second + path.substr(innermost.size());
  // A file of ours is an entry of its own, in a place that has moved.
  const bool of_ours = std::any_of(plan.view.begin(), plan.view.end(), [&](const ViewEntry& entry) {
    return entry.kind == EntryKind::text && entry.target == path;
  });
  const auto holder = places.find(std::string(parent_of(path)));
  return of_ours && holder != places.end() ? holder->second + path.substr(holder->first.size()) : path;
}

// A word of ours may have the path of a file glued to an option: "--config=/run/cloche/x".
std::string reworded(const ConfinementPlan& plan, const Places& places, std::string word) {
  for (const auto& entry : plan.view) {
    if (entry.kind != EntryKind::text || is_beneath("/etc", entry.target)) continue;
    const size_t at = word.find(entry.target);
    if (at != std::string::npos) word.replace(at, entry.target.size(), moved(plan, places, entry.target));
  }
  return word;
}

// The plan as it really runs: every path is one of the host's.
ConfinementPlan on_host(const ConfinementPlan& plan, const SubprocessParts& parts) {
  const auto places = moved_places(plan, parts.scratch);
  ConfinementPlan run = plan;
  run.directory = moved(plan, places, plan.directory);
  for (auto& word : run.argv) word = reworded(plan, places, word);
  for (auto& variable : run.environment) {
    if (variable.name == "HOME" || variable.name == "TMPDIR")
      variable.value = moved(plan, places, variable.value);
  }
  const auto has = [&](std::string_view name) {
    return std::any_of(run.environment.begin(), run.environment.end(),
                       [&](const Variable& variable) { return variable.name == name; });
  };
  if (places.contains("/tmp") && !has("TMPDIR")) run.environment.push_back({"TMPDIR", places.at("/tmp")});
  run.view.clear();
  for (ViewEntry entry : plan.view) {
    if (is_memory(entry)) {
      if (!places.contains(entry.target)) continue;
      entry.kind = EntryKind::tree;
      entry.role = EntryRole::placed;
      entry.source = places.at(entry.target);
    } else if (entry.kind == EntryKind::text) {
      const bool hosts =
          std::find(parts.as_on_host.begin(), parts.as_on_host.end(), entry.target) != parts.as_on_host.end();
      if (!hosts) continue;
      entry.kind = EntryKind::tree;
      entry.source = entry.target;
      entry.file = true;
    } else if (entry.kind == EntryKind::proc) {
      entry.kind = EntryKind::tree;
      entry.source = entry.target;
    }
    if (entry.kind != EntryKind::tree || entry.access == Access::none) continue;
    entry.target = entry.source;
    run.view.push_back(std::move(entry));
  }
  return run;
}

bool is_narrower(Access inner, Access outer) {
  if (inner == Access::none) return true;
  return may_write(outer) && !may_write(inner);
}

// Landlock cannot take away below what it gives.
const ViewEntry* wider_around(const ConfinementPlan& plan, const ViewEntry& entry) {
  for (const auto& outer : plan.view) {
    const bool shown = outer.kind == EntryKind::tree && outer.access != Access::none && &outer != &entry;
    if (shown && outer.target == outer.source && is_beneath(outer.target, entry.target) &&
        is_narrower(entry.access, outer.access))
      return &outer;
  }
  return nullptr;
}

std::vector<MissingLayer> missing_view(const ConfinementPlan& plan) {
  for (const auto& entry : plan.view) {
    const bool matters = entry.kind == EntryKind::tree || entry.kind == EntryKind::tmpfs;
    if (!matters || is_beneath("/proc", entry.target)) continue;
    if (const ViewEntry* outer = wider_around(plan, entry)) {
      return {{LayerId::mount_view,
               entry.target + " cannot be kept apart from " + outer->target +
                   " without a mount view: " + entry.why,
               "use --isolation namespace; or a workspace without it, and no --run, whose record lies in its "
               "workspace"}};
    }
    const bool elsewhere = entry.kind == EntryKind::tree && entry.access != Access::none &&
                           entry.source != entry.target && entry.role != EntryRole::placed;
    if (elsewhere) {
      return {{LayerId::mount_view,
               entry.source + " cannot be shown as " + entry.target + " without a mount view",
               "grant it at its own path"}};
    }
  }
  return {};
}

std::vector<Layer> layers_of(const ConfinementPlan& plan, const HostProbe& probe,
                             const CallResources& resources) {
  const bool counted = resources.memory_by != CountedBy::watched;
  const char* sockets =
      plan.network == Network::of_host ? "seccomp, no sockets but the network's" : "seccomp, no sockets";
  std::vector<Layer> layers = {
      {LayerId::syscall_filter, sockets},
      {LayerId::no_new_privileges, "prctl"},
      {LayerId::no_capabilities, "capset"},
      {LayerId::session_keyring, "keyctl"},
      {LayerId::memory_limit, std::string(name_of(resources.memory_by))},
      {LayerId::process_limit, std::string(counted ? name_of(resources.memory_by) : "rlimit-user")}};
  add_landlock(layers, plan, probe);
  return layers;
}

LaunchSpec started_by_jail(const ConfinementPlan& run, const CallResources& resources,
                           const std::string& jail, std::vector<std::string> words) {
  LaunchSpec spec;
  spec.jail.flags = wire::unboxed | (resources.privileged ? wire::privileged : 0U);
  // No ids are changed here; the decoder wants none of them to be root's all the same.
  spec.jail.inside_uid = run.inside_uid;
  spec.jail.inside_gid = run.inside_gid;
  spec.jail.outside_uid = resources.outside_uid;
  spec.jail.outside_gid = resources.outside_gid;
  spec.jail.programs = {jail};
  spec.jail.argv = {"cloche-jail"};
  spec.jail.argv.insert(spec.jail.argv.end(), words.begin(), words.end());
  spec.jail.env = environment_words(run);
  spec.as_run = run;
  spec.by_descendants = true;
  return spec;
}

}  // namespace

std::vector<MissingLayer> subprocess_missing(const ConfinementPlan& plan, const HostProbe& probe) {
  auto missing = missing_view(plan);
  for (auto& layer : missing_layers(plan, probe)) missing.push_back(std::move(layer));
  return missing;
}

std::vector<ScratchEntry> scratch_entries(const ConfinementPlan& plan, const SubprocessParts& parts) {
  const auto places = moved_places(plan, parts.scratch);
  const std::string files = parts.scratch + "/files";
  std::vector<ScratchEntry> entries;
  const bool has_files = std::any_of(places.begin(), places.end(),
                                     [&](const auto& place) { return is_beneath(files, place.second); });
  if (has_files) entries.push_back({files, true});
  for (const auto& [from, to] : places) {
    if (is_beneath(parts.scratch, to)) entries.push_back({to, true});
  }
  for (const auto& entry : plan.view) {
    const std::string path = moved(plan, places, entry.target);
    if (entry.kind == EntryKind::text && path != entry.target)
      entries.push_back({path, false, entry.content});
  }
  return entries;
}

LaunchSpec render_subprocess(const ConfinementPlan& plan, const HostProbe& probe,
                             const CallResources& resources, const SubprocessParts& parts) {
  const ConfinementPlan run = on_host(plan, parts);
  InnerOptions options;
  options.control = wire::control_fd;
  options.landlock_abi = landlock_support(plan.level, probe.landlock_abi).abi;
  options.watched = resources.memory_by == CountedBy::watched;
  options.around = InnerOptions::Around::host;
  options.directory = resources.directory;
  options.others = parts.others;
  LaunchSpec spec = started_by_jail(run, resources, parts.jail, inner_arguments(run, options));
  spec.backend = Backend::subprocess;
  spec.layers = layers_of(plan, probe, resources);
  return spec;
}

LaunchSpec render_open(const ConfinementPlan& plan, const CallResources& resources,
                       const SubprocessParts& parts) {
  ConfinementPlan run = on_host(plan, parts);
  for (auto& variable : run.environment) {
    if (variable.name == "HOME" && !parts.callers_home.empty()) variable.value = parts.callers_home;
  }
  InnerOptions options;
  options.control = wire::control_fd;
  options.landlock_abi = 0;
  options.around = InnerOptions::Around::nothing_held;
  options.directory = resources.directory;
  options.others = parts.others;
  LaunchSpec spec = started_by_jail(run, resources, parts.jail, inner_arguments(run, options));
  spec.backend = Backend::none;
  return spec;
}

}  // namespace cloche
