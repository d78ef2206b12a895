#include "policy/plan_run.hpp"

#include <algorithm>
#include <map>
#include <span>

#include "base/path.hpp"
#include "policy/secret_names.hpp"
#include "policy/system_view.hpp"

namespace cloche {
namespace {

constexpr std::string_view home = home_inside;
constexpr std::string_view system_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

using Kind = FileFact::Kind;

ViewEntry tree(const FileFact& fact, std::string target, Access access, std::string why) {
  ViewEntry entry{
      .kind = EntryKind::tree, .access = access, .target = std::move(target), .source = fact.path};
  entry.file = fact.kind != Kind::directory;
  entry.device = fact.device;
  entry.inode = fact.inode;
  entry.owner_uid = fact.uid;
  entry.owner_gid = fact.gid;
  entry.why = std::move(why);
  return entry;
}

// Something the operator owns and shows on purpose.
ViewEntry owned_tree(const FileFact& fact, std::string target, Access access, std::string why) {
  ViewEntry entry = tree(fact, std::move(target), access, std::move(why));
  entry.owned = true;
  return entry;
}

ViewEntry link(std::string target, std::string says, std::string why) {
  return {
      .kind = EntryKind::link, .target = std::move(target), .source = std::move(says), .why = std::move(why)};
}

ViewEntry text(std::string target, std::string content, std::string why) {
  ViewEntry entry{.kind = EntryKind::text, .target = std::move(target), .content = std::move(content)};
  entry.mode = 0644;
  entry.why = std::move(why);
  return entry;
}

// An empty directory: what was granted below it can be reached, and nothing listed.
ViewEntry mask(std::string target, std::string why) {
  ViewEntry entry{.kind = EntryKind::tmpfs, .access = Access::none, .target = std::move(target)};
  entry.mode = 0111;
  entry.size_bytes = 4096;
  entry.why = std::move(why);
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

void add_memory(ConfinementPlan& plan, std::string target, unsigned mode, Access access, std::string why) {
  ViewEntry entry{.kind = EntryKind::tmpfs, .access = access, .target = std::move(target)};
  entry.mode = mode;
  entry.size_bytes = plan.limits.tmp_bytes;
  entry.why = std::move(why);
  plan.view.push_back(std::move(entry));
}

void add_system(ConfinementPlan& plan, const Facts& facts) {
  for (const auto& fact : facts.system) {
    const auto row = std::find_if(std::begin(system_paths), std::end(system_paths),
                                  [&](const ShownPath& shown) { return shown.path == fact.path; });
    plan.view.push_back(as_on_host(fact, Access::run, row != std::end(system_paths) ? row->why : ""));
  }
  for (const auto& fact : facts.etc) {
    plan.view.push_back(as_on_host(fact, Access::read, "curated /etc"));
    const bool large = std::any_of(std::begin(large_etc_directories), std::end(large_etc_directories),
                                   [&](std::string_view stem) { return fact.path.starts_with(stem); });
    plan.view.back().copied = plan.view.back().kind == EntryKind::tree && !large;
  }
}

// The host as it is, read-only, with the secret set masked. What is private in the curated view is private
// here too.
Result<void> add_host(ConfinementPlan& plan, const Facts& facts) {
  for (const auto& fact : facts.root) plan.view.push_back(as_on_host(fact, Access::run, "--view host"));
  for (const auto& fact : facts.secrets) {
    const bool whole =
        fact.path == "/" || std::any_of(facts.root.begin(), facts.root.end(), [&](const FileFact& root) {
          return root.path == fact.path && root.path != "/root";
        });
    if (whole) {
      return refusal("a secret of a home directory is a link to " + fact.path +
                         ", and the host cannot be shown without that",
                     "point the link elsewhere, or use the standard view");
    }
    if (fact.kind == Kind::directory) {
      plan.view.push_back(mask(fact.path, "masked: secrets"));
    } else {
      plan.view.push_back(empty_file(fact.path, "masked: secrets"));
    }
  }
  return {};
}

void add_identity(ConfinementPlan& plan) {
  const std::string uid = std::to_string(plan.inside_uid);
  const std::string gid = std::to_string(plan.inside_gid);
  std::string users = "root:x:0:0:root:/root:/usr/sbin/nologin\ncloche:x:" + uid + ":" + gid +
                      ":cloche:" + std::string(home) + ":/bin/sh\n";
  std::string groups = "root:x:0:\ncloche:x:" + gid + ":\n";
  if (plan.inside_uid != 65534) users += "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
  if (plan.inside_gid != 65534) groups += "nogroup:x:65534:\n";
  plan.view.push_back(text("/etc/passwd", users, "the one user of the sandbox"));
  plan.view.push_back(text("/etc/group", groups, "the one group of the sandbox"));
  plan.view.push_back(
      text("/etc/hosts", "127.0.0.1 localhost cloche\n::1 localhost ip6-localhost\n", "loopback alone"));
  plan.view.push_back(text("/etc/resolv.conf", "# no network: no resolver\n", "there is nobody to ask"));
  plan.view.push_back(text("/etc/hostname", "cloche\n", "the sandbox's own name"));
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

void add_private(ConfinementPlan& plan, const RunRequest& request) {
  const bool writable = request.profile != Profile::readonly;
  const Access access = writable ? Access::write_run : Access::read;
  plan.view.push_back(
      {.kind = EntryKind::proc, .access = Access::read, .target = "/proc", .why = "its own processes"});
  // An ordinary caller's keys have the command's own id; not their content, but their names could be read
  // here.
  plan.view.push_back({.kind = EntryKind::tree,
                       .access = Access::none,
                       .target = "/proc/keys",
                       .source = "/dev/null",
                       .file = true,
                       .why = "masked: names of the caller's keys"});
  add_devices(plan);
  add_memory(plan, "/dev/shm", 01777, writable ? Access::write : Access::read, "shared memory of its own");
  add_memory(plan, "/tmp", 01777, access, "temporary files of its own");
  if (request.view == View::curated) {
    add_memory(plan, std::string(home), 0700, access, "a home of its own");
    plan.view.push_back(link("/var/tmp", "/tmp", "temporary files of its own"));
    plan.view.push_back(
        {.kind = EntryKind::directory, .target = "/run", .why = "empty: no sockets of the host"});
    plan.view.push_back(link("/var/run", "/run", "empty: no sockets of the host"));
  } else {
    add_memory(plan, "/run", 0755, access, "empty: no sockets of the host");
    ViewEntry own_home{.kind = EntryKind::directory, .access = access, .target = "/run/home"};
    own_home.mode = 0700;
    own_home.why = "a home of its own";
    plan.view.push_back(std::move(own_home));
  }
}

Result<void> add_grants(ConfinementPlan& plan, const RunRequest& request, const Facts& facts) {
  constexpr size_t most_grants = 256;
  if (request.grants.size() > most_grants) {
    return refusal("--ro and --rw are given " + std::to_string(request.grants.size()) + " times, and " +
                       std::to_string(most_grants) + " is the most",
                   "grant a directory that holds them");
  }
  for (size_t i = 0; i < request.grants.size(); ++i) {
    const Grant& grant = request.grants[i];
    const FileFact& fact = facts.grants[i];
    const std::string flag = grant.writable ? "--rw " : "--ro ";
    if (!fact.exists()) return refusal(flag + grant.source + ": no such file or directory");
    if (!facts.state.path.empty() && is_beneath(facts.state.path, fact.path)) {
      return refusal(flag + grant.source + " lies in Cloche's own directory " + facts.state.path);
    }
    if (grant.writable && !facts.state.path.empty() && is_beneath(fact.path, facts.state.path)) {
      return refusal(
          flag + grant.source + " would make Cloche's own directory " + facts.state.path + " writable",
          "grant a directory below it, or move Cloche's with XDG_STATE_HOME");
    }
    if (fact.kind != Kind::directory && fact.kind != Kind::file) {
      return refusal(flag + grant.source + " is a socket, a device or a pipe",
                     "only files and directories can be shown inside");
    }
    std::string target = grant.target.empty() ? fact.path : grant.target;
    if (!is_plain_absolute(target)) {
      return usage_error(flag + grant.source + ":" + target +
                         ": the target must be an absolute path without . or ..");
    }
    if (target == "/" || is_beneath("/proc", target) || is_beneath("/dev", target)) {
      return refusal(flag + grant.source + " cannot be shown at " + target,
                     "choose another target with SRC:DST");
    }
    if (grant.writable && request.profile == Profile::readonly) {
      return refusal(flag + grant.source + " contradicts --profile readonly", "leave one of the two out");
    }
    const Access access = grant.writable ? Access::write_run : Access::run;
    plan.view.push_back(owned_tree(fact, std::move(target), access, flag + grant.source));
  }
  return {};
}

// Facts may have been looked up for a request that wanted more.
std::span<const ToolchainFact> toolchains_of(const RunRequest& request, const Facts& facts) {
  if (request.toolchains == "none") return {};
  return facts.toolchains;
}

void add_toolchains(ConfinementPlan& plan, std::span<const ToolchainFact> toolchains) {
  for (const auto& chain : toolchains) {
    for (const auto& fact : chain.trees) {
      if (fact.kind == Kind::link) {
        plan.view.push_back(link(fact.path, fact.link, "toolchain " + chain.name));
        continue;
      }
      plan.view.push_back(owned_tree(fact, fact.path, Access::run, "toolchain " + chain.name));
    }
  }
}

// Toolchains stand where the caller has them: before the system's own when they do on the caller's PATH.
std::string search_path(const RunRequest& request, const Facts& facts) {
  std::string before;
  std::string after;
  const std::string callers = ":" + facts.caller.path + ":";
  const size_t system = std::min(callers.find(":/usr/bin:"), callers.find(":/bin:"));
  for (const auto& chain : toolchains_of(request, facts)) {
    for (const auto& directory : chain.path) {
      const size_t at = callers.find(":" + directory + ":");
      if (at != std::string::npos && at < system) {
        before += directory + ":";
      } else {
        after += ":" + directory;
      }
    }
  }
  return before + std::string(system_path) + after;
}

bool is_left_out(const Pass& pass) { return !pass.value && looks_secret(pass.name); }

void add_environment(ConfinementPlan& plan, const RunRequest& request, const Facts& facts) {
  const std::string own_home = request.view == View::host ? "/run/home" : std::string(home);
  std::map<std::string, std::string> variables = {
      {"PATH", search_path(request, facts)},
      {"HOME", own_home},
      {"USER", "cloche"},
      {"LOGNAME", "cloche"},
      {"SHELL", "/bin/sh"},
      {"LANG", "C.UTF-8"},
      {"TMPDIR", "/tmp"},
      // ptrace is not there, and without it LeakSanitizer ends every program that it checks.
      {"ASAN_OPTIONS", "detect_leaks=0"}};
  if (request.debugging) variables.erase("ASAN_OPTIONS");
  if (request.terminal) {
    const auto term = facts.caller.environment.find("TERM");
    variables["TERM"] = term != facts.caller.environment.end() ? term->second : "xterm";
  }
  for (const auto& chain : toolchains_of(request, facts)) {
    for (const auto& [name, value] : chain.environment) variables[name] = value;
  }
  for (const auto& pass : request.environment) {
    if (is_left_out(pass)) continue;
    const auto callers = facts.caller.environment.find(pass.name);
    if (pass.value) {
      variables[pass.name] = *pass.value;
    } else if (callers != facts.caller.environment.end()) {
      variables[pass.name] = callers->second;
    }
  }
  for (const auto& [name, value] : variables) plan.environment.push_back({name, value});
}

// Where a path of the host's appears, given the tree that shows it.
std::string seen_at(const ViewEntry& entry, const std::string& path) {
  const std::string below = entry.source == "/" ? path : path.substr(entry.source.size());
  return entry.target == "/" ? below : entry.target + below;
}

// A host mount in an operator's tree came along only because an ordinary user cannot clone without it.
void cover_mounts(ConfinementPlan& plan, const Facts& facts) {
  for (auto& entry : plan.view) {
    const bool has_mounts =
        std::any_of(facts.mounts_below.begin(), facts.mounts_below.end(), [&](const FileFact& below) {
          return entry.owned && is_beneath(entry.source, below.path) && below.path != entry.source;
        });
    entry.recursive = entry.recursive || has_mounts;
  }
  std::vector<ViewEntry> covers;
  for (const auto& below : facts.mounts_below) {
    for (const auto& entry : plan.view) {
      if (!entry.owned || below.path == entry.source || !is_beneath(entry.source, below.path)) continue;
      const std::string target = seen_at(entry, below.path);
      // Granted by name, or inside one that is covered already.
      const auto settles = [&](const ViewEntry& other) {
        return &other != &entry && is_beneath(other.target, target) &&
               is_beneath(entry.target, other.target) &&
               (other.target == target || other.access == Access::none);
      };
      if (std::any_of(plan.view.begin(), plan.view.end(), settles) ||
          std::any_of(covers.begin(), covers.end(), settles)) {
        continue;
      }
      ViewEntry cover{.kind = EntryKind::tmpfs, .access = Access::none, .target = target};
      cover.mode = 0555;
      cover.size_bytes = 4096;
      cover.why = "a mount of the host below " + entry.source;
      if (below.kind != Kind::directory) {
        cover = {.kind = EntryKind::tree,
                 .access = Access::none,
                 .target = target,
                 .source = "/dev/null",
                 .file = true,
                 .why = cover.why};
      }
      covers.push_back(std::move(cover));
    }
  }
  plan.view.insert(plan.view.end(), covers.begin(), covers.end());
}

bool is_shown(const ViewEntry& entry) {
  return entry.kind == EntryKind::tree && entry.access != Access::none;
}

// Proofs and records are no command's to see, whatever was granted around them; and nothing in them can be
// granted, by whatever name.
Result<void> hide_own_files(ConfinementPlan& plan, const Facts& facts) {
  std::vector<ViewEntry> masks;
  const auto hide = [&](const FileFact& own) -> Result<void> {
    for (const auto& entry : plan.view) {
      if (!is_shown(entry)) continue;
      if (is_beneath(own.path, entry.source))
        return refusal(entry.source + " is one of Cloche's own files, and no command sees those");
      if (!own.exists() || !is_beneath(entry.source, own.path)) continue;
      const std::string target = seen_at(entry, own.path);
      masks.push_back(own.kind == Kind::directory ? mask(target, "Cloche's own files")
                                                  : empty_file(target, "Cloche's own files"));
    }
    return {};
  };
  if (!facts.state.path.empty()) TRY(hide(facts.state));
  for (const auto& own : facts.hidden) TRY(hide(own));
  plan.view.insert(plan.view.end(), masks.begin(), masks.end());
  return {};
}

// What the project says about commands is not a command's to change or to take away, wherever it is shown.
Result<void> keep_project_config(ConfinementPlan& plan, const Facts& facts) {
  const FileFact& config = facts.project_config;
  if (!config.exists()) return {};
  std::vector<ViewEntry> kept;
  for (const auto& entry : plan.view) {
    const bool writes = entry.access == Access::write || entry.access == Access::write_run;
    if (!is_shown(entry) || !writes) continue;
    if (is_beneath(config.path, entry.source))
      return refusal(entry.source + " is the project's own configuration, which no command writes");
    if (is_beneath(entry.source, config.path))
      kept.push_back(
          owned_tree(config, seen_at(entry, config.path), Access::read, "the project's own configuration"));
  }
  plan.view.insert(plan.view.end(), kept.begin(), kept.end());
  return {};
}

// Parents before children; of two entries for one place the later one, which is the more deliberate, wins. A
// link gives way to what lies below it: a workspace in /var/tmp makes that a directory.
void put_in_order(std::vector<ViewEntry>& view) {
  std::vector<ViewEntry*> by_target;  // of two for one place the later one is the second
  by_target.reserve(view.size());
  for (auto& entry : view) by_target.push_back(&entry);
  std::sort(by_target.begin(), by_target.end(), [](const ViewEntry* a, const ViewEntry* b) {
    const int order = a->target.compare(b->target);
    return order != 0 ? order < 0 : a < b;
  });
  const auto is_last = [&](size_t at) {
    return at + 1 == by_target.size() || by_target[at + 1]->target != by_target[at]->target;
  };
  const auto holds_another = [&](size_t at) {  // what begins with its name follows it
    const ViewEntry& link = *by_target[at];
    for (size_t next = at + 1; next < by_target.size(); ++next) {
      const ViewEntry& below = *by_target[next];
      if (!below.target.starts_with(link.target)) return false;
      if (is_last(next) && is_beneath(link.target, below.target) && &below > &link) return true;
    }
    return false;
  };
  std::vector<std::pair<long, ViewEntry*>> kept;  // with its depth
  kept.reserve(view.size());
  for (size_t at = 0; at < by_target.size(); ++at) {
    ViewEntry* entry = by_target[at];
    if (!is_last(at) || (entry->kind == EntryKind::link && holds_another(at))) continue;
    kept.emplace_back(std::count(entry->target.begin(), entry->target.end(), '/'), entry);
  }
  std::sort(kept.begin(), kept.end());  // then as they stood
  std::vector<ViewEntry> ordered;
  ordered.reserve(kept.size());
  for (const auto& [depth, entry] : kept) ordered.push_back(std::move(*entry));
  view = std::move(ordered);
}

// Whether it may be changed.
bool add_workspace(ConfinementPlan& plan, const RunRequest& request, const Facts& facts) {
  if (request.workspace_use == WorkspaceUse::hidden) return false;
  const bool writable = request.profile != Profile::readonly && request.workspace_use == WorkspaceUse::shown;
  plan.view.push_back(owned_tree(facts.workspace, facts.workspace.path,
                                 writable ? Access::write_run : Access::run, "the workspace"));
  if (facts.git_common && !is_beneath(facts.workspace.path, facts.git_common->path)) {
    plan.view.push_back(owned_tree(*facts.git_common, facts.git_common->path, Access::read,
                                   "the repository this worktree belongs to"));
  }
  return writable;
}

// In memory of its own, sealed before the command starts; so no file of it is ever on the disk.
void add_script(ConfinementPlan& plan, const Script& script) {
  ViewEntry memory{.kind = EntryKind::tmpfs,
                   .access = Access::read,
                   .target = std::string(parent_of(script.target)),
                   .why = "what the tool runs or reads"};
  memory.size_bytes = script.code.size() + (64U << 10);
  plan.view.push_back(std::move(memory));
  plan.view.push_back(text(script.target, script.code, "what the tool runs or reads"));
}

// What Cloche itself puts in: a task's home and /tmp in place of fresh ones, a script, an executor's code.
// It may lie in Cloche's own directory, where no grant of an operator's may.
Result<void> add_own(ConfinementPlan& plan, const RunRequest& request, const Facts& facts) {
  for (size_t i = 0; i < request.own.size(); ++i) {
    const Grant& given = request.own[i];
    const FileFact& fact = facts.own[i];
    if (given.writable && request.fresh_home) continue;
    if (!fact.exists()) return refusal(given.source + " is gone", "call again");
    const bool writable = given.writable && request.profile != Profile::readonly;
    const Access writes = request.noexec ? Access::write : Access::write_run;
    plan.view.push_back(owned_tree(fact, given.target.empty() ? fact.path : given.target,
                                   writable ? writes : Access::run, "put there by Cloche"));
    if (writable) plan.view.back().size_bytes = plan.limits.tmp_bytes;
  }
  if (request.script) add_script(plan, *request.script);
  return {};
}

// The system's own programs still run: a copy of one, or a script beside the data, does not.
void forbid_execution(std::vector<ViewEntry>& view) {
  for (auto& entry : view) {
    if (entry.access == Access::write_run) entry.access = Access::write;
    if (entry.owned && entry.access == Access::run) entry.access = Access::read;
  }
}

void take_ids(ConfinementPlan& plan, const CallerFact& caller) {
  if (caller.privileged) return;  // 1000, mapped to an id of the call's own
  if (caller.uid != 0) plan.inside_uid = caller.uid;
  if (caller.gid != 0) plan.inside_gid = caller.gid;
}

}  // namespace

Result<void> judge_workspace(const FileFact& workspace, const std::string& callers_home) {
  const std::string& path = workspace.path;
  if (!workspace.exists()) {
    return refusal("the workspace " + path + " does not exist", "make it, or name another with --workspace");
  }
  if (workspace.kind != Kind::directory) return refusal("the workspace " + path + " is not a directory");
  if (!callers_home.empty() && is_beneath(path, callers_home)) {
    const std::string what =
        path == callers_home ? " is your home directory" : " contains your home directory";
    return refusal(
        "the workspace " + path + what + ": keys and settings in it would be readable and writable",
        "name a directory below it with --workspace");
  }
  for (const auto& root : refused_roots) {
    if (path == root.path || (root.below && is_beneath(root.path, path))) {
      return refusal(
          "the workspace " + path + " is a system directory: a sandboxed write there would change the host",
          "name a project directory with --workspace");
    }
  }
  return {};
}

std::vector<std::string> secrets_left_out(const RunRequest& request) {
  std::vector<std::string> names;
  for (const auto& pass : request.environment) {
    if (is_left_out(pass) && std::find(names.begin(), names.end(), pass.name) == names.end())
      names.push_back(pass.name);
  }
  return names;
}

Result<ConfinementPlan> plan_run(const RunRequest& request, const Facts& facts) {
  TRY(judge_workspace(facts.workspace, facts.caller.home));
  if (!facts.state.path.empty() && (is_beneath(facts.workspace.path, facts.state.path) ||
                                    is_beneath(facts.state.path, facts.workspace.path))) {
    return refusal("Cloche's own directory " + facts.state.path + " and the workspace " +
                       facts.workspace.path + " lie in each other",
                   "name another workspace, or move it with XDG_STATE_HOME");
  }
  ConfinementPlan plan;
  plan.argv = request.argv;
  plan.limits = request.limits;
  plan.terminal = request.terminal;
  plan.debugging = request.debugging;
  plan.umask = request.umask;
  take_ids(plan, facts.caller);

  if (request.view == View::host) {
    TRY(add_host(plan, facts));
  } else {
    add_system(plan, facts);
  }
  if (request.view == View::curated) add_identity(plan);
  add_private(plan, request);
  if (request.view == View::curated)
    add_toolchains(plan, toolchains_of(request, facts));  // the host's own view has them where they are
  const bool writable = add_workspace(plan, request, facts);
  TRY(add_grants(plan, request, facts));
  cover_mounts(plan, facts);
  TRY(keep_project_config(plan, facts));
  TRY(hide_own_files(plan, facts));
  if (request.noexec) forbid_execution(plan.view);
  TRY(add_own(plan, request, facts));
  put_in_order(plan.view);
  add_environment(plan, request, facts);

  const bool hidden = request.workspace_use == WorkspaceUse::hidden;
  plan.directory = request.directory.value_or(hidden ? std::string(home) : facts.workspace.path);
  if (plan.directory.empty() || plan.directory[0] != '/')
    plan.directory = facts.workspace.path + "/" + plan.directory;
  if (writable) plan.workspace = facts.workspace.path;
  return plan;
}

}  // namespace cloche
