#include "policy/plan/view_entries.hpp"

#include <algorithm>
#include <utility>

#include "base/lists.hpp"
#include "base/sys/path.hpp"
#include "model/network.hpp"
#include "policy/plan/plan_run.hpp"
#include "policy/plan/system_view.hpp"

namespace cloche::view {
namespace {

using Kind = FileFact::Kind;

void add_memory(ConfinementPlan& plan, std::string target, unsigned mode, Access access, std::string why) {
  plan.view.push_back(memory(std::move(target), plan.limits.tmp_bytes, access, std::move(why)));
  plan.view.back().mode = mode;
}

// Where programs put sockets and the numbers of their processes.
void add_run(ConfinementPlan& plan, Access access) {
  constexpr uint64_t most_bytes = 16U << 20;
  plan.view.push_back(memory("/run", std::min(plan.limits.tmp_bytes, most_bytes), access,
                             "sockets of its own, and none of the host"));
}

void add_devices(ConfinementPlan& plan) {
  for (std::string_view name : device_nodes) {
    const std::string path = "/dev/" + std::string(name);
    plan.view.push_back({.kind = EntryKind::tree,
                         .access = Access::device,
                         .target = path,
                         .source = path,
                         .file = true,
                         .why = "a device without state"});
  }
  plan.view.push_back({.kind = EntryKind::terminals,
                       .access = Access::device,
                       .target = "/dev/pts",
                       .why = "pseudo terminals of its own"});
  plan.view.push_back(link("/dev/ptmx", "pts/ptmx", "pseudo terminals of its own"));
  plan.view.push_back(link("/dev/fd", "/proc/self/fd", "the process's own descriptors"));
  plan.view.push_back(link("/dev/stdin", "/proc/self/fd/0", "the process's own descriptors"));
  plan.view.push_back(link("/dev/stdout", "/proc/self/fd/1", "the process's own descriptors"));
  plan.view.push_back(link("/dev/stderr", "/proc/self/fd/2", "the process's own descriptors"));
}

// A link of the view gives way to what is granted beneath it (put_in_order).
bool gives_way(const ConfinementPlan& plan, const ViewEntry& entry) {
  return entry.kind == EntryKind::link && std::ranges::any_of(plan.view, [&](const ViewEntry& other) {
           return other.owned && is_beneath(entry.target, other.target);
         });
}

// Whether something that the view has shows the name already, as a link in a tree of the host's does, or
// would be covered there.
bool is_taken(const ConfinementPlan& plan, const std::string& name) {
  if (is_beneath("/proc", name) || is_beneath("/dev", name) || is_beneath(name, home_inside)) return true;
  return std::ranges::any_of(plan.view, [&](const ViewEntry& entry) {
    const bool memory = entry.kind == EntryKind::tmpfs || entry.kind == EntryKind::directory;
    if (is_beneath(entry.target, name)) return entry.target == name || (!memory && !gives_way(plan, entry));
    return is_beneath(name, entry.target) && !entry.owned;
  });
}

// The absolute name that was written, when a link has led elsewhere; empty without one, and where it cannot
// be told: what .. means depends on links, and a relative name is known by the link alone that it ends in.
std::string name_by_links(const Grant& grant, const FileFact& fact) {
  if (fact.turns.empty()) return {};
  std::string name = grant.source;
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  const std::string& link = fact.turns.front();
  if (!name.starts_with('/') && link.ends_with("/" + name)) name = link;
  return is_plain_absolute(name) && name != fact.path ? name : std::string();
}

}  // namespace

ViewEntry tree(const FileFact& fact, std::string target, Access access, std::string why) {
  return {.kind = EntryKind::tree,
          .access = access,
          .target = std::move(target),
          .source = fact.path,
          .file = fact.kind != Kind::directory,
          .device = fact.device,
          .inode = fact.inode,
          .mount = fact.mount,
          .owner_uid = fact.uid,
          .owner_gid = fact.gid,
          .why = std::move(why)};
}

ViewEntry owned_tree(const FileFact& fact, std::string target, Access access, std::string why) {
  // Nothing can be written there, and so nothing needs a layer.
  if (fact.mount_is_read_only && access == Access::write) access = Access::read;
  if (fact.mount_is_read_only && access == Access::write_run) access = Access::run;
  ViewEntry entry = tree(fact, std::move(target), access, std::move(why));
  entry.owned = true;
  return entry;
}

ViewEntry link(std::string target, std::string says, std::string why) {
  return {
      .kind = EntryKind::link, .target = std::move(target), .source = std::move(says), .why = std::move(why)};
}

ViewEntry text(std::string target, std::string content, std::string why) {
  return {.kind = EntryKind::text,
          .target = std::move(target),
          .content = std::move(content),
          .mode = 0644,
          .why = std::move(why)};
}

ViewEntry mask(std::string target, std::string why) {
  ViewEntry entry = memory(std::move(target), 4096, Access::none, std::move(why));
  entry.mode = 0111;
  return entry;
}

ViewEntry empty_file(std::string target, std::string why) {
  return {.kind = EntryKind::tree,
          .access = Access::none,
          .target = std::move(target),
          .source = "/dev/null",
          .file = true,
          .why = std::move(why)};
}

ViewEntry as_on_host(const FileFact& fact, Access access, std::string_view why) {
  if (fact.kind == Kind::link) return link(fact.path, fact.link, std::string(why));
  ViewEntry entry = tree(fact, fact.path, access, std::string(why));
  entry.recursive = fact.kind == Kind::directory;
  return entry;
}

ViewEntry memory(std::string target, uint64_t size_bytes, Access access, std::string why) {
  return {.kind = EntryKind::tmpfs,
          .access = access,
          .target = std::move(target),
          .size_bytes = size_bytes,
          .why = std::move(why)};
}

void add_system(ConfinementPlan& plan, const Facts& facts) {
  for (const auto& fact : facts.system) {
    const ShownPath* data = find_by(data_paths, &ShownPath::path, fact.path);
    const ShownPath* row = data != nullptr ? data : find_by(system_paths, &ShownPath::path, fact.path);
    plan.view.push_back(
        as_on_host(fact, data != nullptr ? Access::read : Access::run, row != nullptr ? row->why : ""));
  }
  for (const auto& fact : facts.etc) {
    plan.view.push_back(as_on_host(fact, Access::read, "curated /etc"));
    const bool large = std::ranges::any_of(
        large_etc_directories, [&](std::string_view stem) { return fact.path.starts_with(stem); });
    plan.view.back().copied = plan.view.back().kind == EntryKind::tree && !large;
  }
}

Result<void> add_host(ConfinementPlan& plan, const Facts& facts) {
  for (const auto& fact : facts.root) plan.view.push_back(as_on_host(fact, Access::run, "--view host"));
  for (const auto& fact : facts.secrets) {
    const bool whole = fact.path == "/" || std::ranges::any_of(facts.root, [&](const FileFact& root) {
                         return root.path == fact.path && root.path != "/root";
                       });
    if (whole) {
      return refusal("a secret of a home directory is a link to " + fact.path +
                         ", and the host cannot be shown without that",
                     "point the link elsewhere, or use the standard view");
    }
    const auto masked = fact.kind == Kind::directory ? mask : empty_file;
    plan.view.push_back(masked(fact.path, "masked: secrets"));
  }
  return {};
}

namespace {

void add_from_host(ConfinementPlan& plan, std::string target, const FileFact& file) {
  if (file.kind != Kind::file) return;
  plan.view.push_back({.kind = EntryKind::tree,
                       .access = Access::read,
                       .target = std::move(target),
                       .source = file.path,
                       .file = true,
                       .role = EntryRole::placed,
                       .device = file.device,
                       .inode = file.inode,
                       .why = "the host's own, with its network"});
}

// In a box no process of ours answers questions: with one that asks no process a look-up fails at once all
// the same, as of a name that does not exist.
void look_in_files_alone(ConfinementPlan& plan) {
  constexpr std::string_view path = "/etc/nsswitch.conf";
  std::erase_if(plan.view.edit(), [&](const ViewEntry& entry) { return entry.target == path; });
  std::string content;
  for (const std::string_view what :
       {"passwd", "group", "shadow", "hosts", "networks", "protocols", "services"})
    content += std::string(what) + ": files\n";
  plan.view.push_back(text(std::string(path), content, "names are looked up in files alone"));
}

// How names are found: as on the host with its network, else by the gate or not at all.
void add_name_files(ConfinementPlan& plan, const Facts& facts) {
  if (plan.network == Network::of_host) {
    add_from_host(plan, "/etc/hosts", facts.hosts_file);
    add_from_host(plan, "/etc/resolv.conf", facts.resolver_file);
    return;
  }
  const bool network = !plan.hosts.empty();
  if (!network && plan.backend != Backend::native) look_in_files_alone(plan);
  plan.view.push_back(
      text("/etc/hosts", hosts_file_for(plan.hosts), network ? "loopback" : "loopback alone"));
  plan.view.push_back(text("/etc/resolv.conf", resolver_file_for(plan.hosts),
                           network ? "the gate that answers for declared names" : "it knows no name"));
}

}  // namespace

void add_identity(ConfinementPlan& plan, const Facts& facts) {
  const std::string uid = std::to_string(plan.inside_uid);
  const std::string gid = std::to_string(plan.inside_gid);
  std::string users = "root:x:0:0:root:/root:/usr/sbin/nologin\ncloche:x:" + uid + ":" + gid +
                      ":cloche:" + std::string(home_inside) + ":/bin/sh\n";
  std::string groups = "root:x:0:\ncloche:x:" + gid + ":\n";
  if (plan.inside_uid != 65534) users += "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
  if (plan.inside_gid != 65534) groups += "nogroup:x:65534:\n";
  plan.view.push_back(text("/etc/passwd", users, "the one user of the sandbox"));
  plan.view.push_back(text("/etc/group", groups, "the one group of the sandbox"));
  add_name_files(plan, facts);
  plan.view.push_back(text("/etc/hostname", "cloche\n", "the sandbox's own name"));
  plan.view.push_back(text("/etc/machine-id", "c10c4e00000000000000000000c10c4e\n",
                           "the same in every sandbox: the host's own names a machine"));
}

void add_private(ConfinementPlan& plan, const RunRequest& request) {
  const bool writable = request.profile != Profile::readonly;
  const Access access = writable ? Access::write_run : Access::read;
  const Access data = writable ? Access::write : Access::read;
  plan.view.push_back(
      {.kind = EntryKind::proc, .access = Access::read, .target = "/proc", .why = "its own processes"});
  // An ordinary caller's keys have the command's own id; not their content, but their names could be read
  // here.
  plan.view.push_back(empty_file("/proc/keys", "masked: names of the caller's keys"));
  add_devices(plan);
  add_memory(plan, "/dev/shm", 01777, data, "shared memory of its own");
  plan.view.push_back({.kind = EntryKind::queues,
                       .access = data,
                       .target = "/dev/mqueue",
                       .why = "POSIX queues of its own ipc namespace, bounded by RLIMIT_MSGQUEUE"});
  add_memory(plan, "/tmp", 01777, access, "temporary files of its own");
  if (request.view == View::curated) {
    add_memory(plan, std::string(home_inside), 0700, access, "a home of its own");
    plan.view.push_back(link("/var/tmp", "/tmp", "temporary files of its own"));
    add_run(plan, data);
    plan.view.push_back(link("/var/run", "/run", "sockets of its own, and none of the host"));
  } else {
    add_memory(plan, "/run", 0755, access, "a home of its own, and no sockets of the host");
    plan.view.push_back({.kind = EntryKind::directory,
                         .access = access,
                         .target = "/run/home",
                         .mode = 0700,
                         .why = "a home of its own"});
  }
}

void give_way_to_grants(ConfinementPlan& plan, const RunRequest& request, const Facts& facts) {
  const bool is_workspace_shown = request.workspace_use != WorkspaceUse::hidden;
  const auto gives_way = [&](const ViewEntry& entry) {
    const bool made = entry.kind == EntryKind::link || entry.kind == EntryKind::text;
    const bool of_the_host = entry.kind == EntryKind::tree && !entry.owned;
    const bool is_link_there =
        entry.kind == EntryKind::link && is_workspace_shown && is_beneath(facts.workspace.path, entry.target);
    return is_link_there || ((made || of_the_host) && granted_over(request, facts, entry.target) != nullptr);
  };
  if (std::ranges::any_of(plan.view, gives_way)) std::erase_if(plan.view.edit(), gives_way);
}

void add_symlink_grants(ConfinementPlan& plan, const RunRequest& request, const Facts& facts) {
  if (request.level < IsolationLevel::namespaces) return;
  for (size_t i = 0; i < request.grants.size(); ++i) {
    const Grant& grant = request.grants[i];
    const FileFact& fact = facts.grants[i];
    const std::string name = name_by_links(grant, fact);
    if (!grant.target.empty() || name.empty() || is_taken(plan, name)) continue;
    const std::string flag = grant.writable ? "--rw " : "--ro ";
    if (grant.writable && is_system_root(name)) continue;  // what it leads to was judged
    plan.view.push_back(
        owned_tree(fact, name, grant.writable ? Access::write_run : Access::run, flag + grant.source));
  }
}

std::string shown_at(const Grant& grant, const FileFact& fact) {
  return grant.target.empty() ? fact.path : grant.target;
}

const Grant* granted_over(const RunRequest& request, const Facts& facts, std::string_view path) {
  const size_t count = std::min(request.grants.size(), facts.grants.size());
  for (size_t i = 0; i < count; ++i)
    if (is_beneath(shown_at(request.grants[i], facts.grants[i]), path)) return &request.grants[i];
  return nullptr;
}

}  // namespace cloche::view
