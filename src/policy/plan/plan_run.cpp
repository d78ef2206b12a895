#include "policy/plan/plan_run.hpp"

#include <algorithm>
#include <map>
#include <span>

#include "base/lists.hpp"
#include "base/sys/path.hpp"
#include "base/text/ascii.hpp"
#include "base/text/visible_text.hpp"
#include "model/network.hpp"
#include "policy/authority/path_trust.hpp"
#include "policy/authority/secret_names.hpp"
#include "policy/hosts/address_range.hpp"
#include "policy/hosts/declared_hosts.hpp"
#include "policy/plan/git_identity.hpp"
#include "policy/plan/layered_trees.hpp"
#include "policy/plan/runtime_memory.hpp"
#include "policy/plan/system_view.hpp"
#include "policy/plan/view_entries.hpp"
#include "policy/plan/view_guards.hpp"
#include "policy/plan/without_network.hpp"
#include "policy/protected/protected_trees.hpp"

namespace cloche {
namespace {

constexpr std::string_view home = home_inside;
constexpr std::string_view system_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

using Kind = FileFact::Kind;

// Whatever the profile of this call: another one may have had more.
std::vector<std::string> written_places(const RunRequest& request, const Facts& facts) {
  std::vector<std::string> written = request.written;
  written.push_back(facts.workspace.path);
  for (size_t i = 0; i < request.grants.size(); ++i) {
    if (request.grants[i].writable) written.push_back(facts.grants[i].path);
  }
  return written;
}

// Of what the operator says and of what Cloche keeps: a link that a command can turn would have the next call
// read, show or write what that command has chosen.
Result<void> judge_own_ways(const RunRequest& request, const Facts& facts) {
  std::vector<std::string> written = written_places(request, facts);
  for (size_t i = 0; i < request.own.size(); ++i) {
    if (request.own[i].writable) written.push_back(facts.own[i].path);
  }
  const auto judge = [&](const char* what, const FileFact& fact) {
    return judge_symlinks_crossed(std::string(what) + fact.path, fact, false, written);
  };
  TRY(judge("Cloche's own directory ", facts.state));
  for (const auto& place : facts.configuration) TRY(judge("the configuration ", place));
  for (const auto& place : facts.kept) TRY(judge("the operator's directory ", place));
  for (size_t i = 0; i < request.own.size(); ++i) {
    if (!request.own[i].writable) TRY(judge("the tool_path ", facts.own[i]));
  }
  return {};
}

// The system's programs as a whole are no command's to change, nor what is shown in their place; the proof of
// a view says so of each. Something in them is the operator's to grant.
Result<void> judge_sealed(const std::string& said, const std::string& source, const std::string& target) {
  for (const std::string& path : {source, target}) {
    if (path == "/") return refusal(said + " would make the whole host writable", "grant a directory in it");
    if (is_system_root(path))
      return refusal(said + " would make " + path + " writable, where the system's programs are",
                     "grant a directory in it, as --rw /usr/local");
  }
  return {};
}

Result<void> add_grants(ConfinementPlan& plan, const RunRequest& request, const Facts& facts) {
  constexpr size_t most_grants = 256;
  if (request.grants.size() > most_grants) {
    return refusal("--ro and --rw are given " + std::to_string(request.grants.size()) + " times, and " +
                       std::to_string(most_grants) + " is the most",
                   "grant a directory that holds them");
  }
  const std::vector<std::string> written = written_places(request, facts);
  for (size_t i = 0; i < request.grants.size(); ++i) {
    const Grant& grant = request.grants[i];
    const FileFact& fact = facts.grants[i];
    const std::string flag = grant.writable ? "--rw " : "--ro ";
    if (!fact.exists()) return refusal(flag + grant.source + ": no such file or directory");
    TRY(judge_symlinks_crossed(flag + grant.source, fact, grant.writable, written));
    if (!facts.state.path.empty() && is_beneath(facts.state.path, fact.path)) {
      return refusal(flag + grant.source + " lies in Cloche's own directory " + facts.state.path);
    }
    if (grant.writable && !facts.state.path.empty() && is_beneath(fact.path, facts.state.path)) {
      return refusal(
          flag + grant.source + " would make Cloche's own directory " + facts.state.path + " writable",
          "grant a directory below it, or move Cloche's with XDG_STATE_HOME");
    }
    if (grant.writable) TRY(judge_sealed(flag + grant.source, fact.path, grant.target));
    if (fact.kind != Kind::directory && fact.kind != Kind::file) {
      return refusal(flag + grant.source + " is a socket, a device or a pipe",
                     "only files and directories can be shown inside");
    }
    std::string target = view::shown_at(grant, fact);
    if (!is_plain_absolute(target)) {
      return usage_error(flag + grant.source + ":" + target +
                         ": the target must be an absolute path without . or ..");
    }
    if (target == "/" || is_beneath("/proc", target) || is_beneath("/dev", target)) {
      return refusal(flag + grant.source + " cannot be shown at " + target,
                     "choose another target with SRC:DST");
    }
    if (request.view == View::curated && target != home && is_beneath(target, home)) {
      return refusal(flag + grant.source + " would cover the command's own home, " + std::string(home),
                     "grant directories in it, or choose another target with SRC:DST");
    }
    if (grant.writable && request.profile == Profile::readonly) {
      return refusal(flag + grant.source + " contradicts --profile readonly", "leave one of the two out");
    }
    const Access access = grant.writable ? Access::write_run : Access::run;
    plan.view.push_back(view::owned_tree(fact, std::move(target), access, flag + grant.source));
  }
  return {};
}

// Facts may have been looked up for a request that wanted more.
std::span<const ToolchainFact> toolchains_of(const RunRequest& request, const Facts& facts) {
  if (request.toolchains == "none") return {};
  return facts.toolchains;
}

// What was asked for by its name has to be there.
Result<void> judge_toolchains(std::span<const ToolchainFact> toolchains) {
  for (const auto& chain : toolchains) {
    if (chain.trees.empty() && chain.path.empty())
      return refusal("--toolchains: " + chain.name + " is not installed here");
  }
  return {};
}

void add_toolchains(ConfinementPlan& plan, std::span<const ToolchainFact> toolchains) {
  for (const auto& chain : toolchains) {
    for (const auto& fact : chain.trees) {
      if (fact.kind == Kind::link) {
        plan.view.push_back(view::link(fact.path, fact.link, "toolchain " + chain.name));
        continue;
      }
      plan.view.push_back(view::owned_tree(fact, fact.path, Access::run, "toolchain " + chain.name));
    }
    if (plan.level < IsolationLevel::namespaces) continue;  // which has no mounts to hide anything with
    for (const auto& path : chain.masked)
      plan.view.push_back(view::mask(path, "toolchain " + chain.name + ": what cannot work in the view"));
  }
}

// Whether a directory is seen inside because --ro shows it, what holds it, or a program in it, at its own
// place.
bool shows_directory(const Grant& grant, const FileFact& fact, std::string_view directory) {
  if (grant.writable || (!grant.target.empty() && grant.target != grant.source)) return false;
  for (const std::string& shown : {grant.source, fact.path}) {
    if (!is_plain_absolute(shown)) continue;
    if (fact.kind == Kind::file ? parent_of(shown) == directory : is_beneath(shown, directory)) return true;
  }
  return false;
}

// Of the caller's PATH, what an operator's command is shown by --ro. A tool call finds its programs where it
// would without the grant.
std::vector<std::string> granted_path(const RunRequest& request, const Facts& facts) {
  std::vector<std::string> granted;
  if (request.tool_call) return granted;
  const std::string system = ":" + std::string(system_path) + ":";
  const std::string& path = facts.caller.path;
  for (size_t begin = 0, end = 0; begin < path.size(); begin = end + 1) {
    end = std::min(path.find(':', begin), path.size());
    const std::string directory = path.substr(begin, end - begin);
    if (!is_plain_absolute(directory) || system.find(":" + directory + ":") != std::string::npos) continue;
    for (size_t i = 0; i < request.grants.size(); ++i) {
      if (!shows_directory(request.grants[i], facts.grants[i], directory)) continue;
      granted.push_back(directory);
      break;
    }
  }
  return granted;
}

// Toolchains and granted directories stand where the caller has them: before the system's own when they do on
// the caller's PATH.
std::string search_path(const RunRequest& request, const Facts& facts) {
  std::string before;
  std::string after;
  const std::string callers = ":" + facts.caller.path + ":";
  const size_t system = std::min(callers.find(":/usr/bin:"), callers.find(":/bin:"));
  std::vector<std::string> directories;
  for (const auto& chain : toolchains_of(request, facts))
    directories.insert(directories.end(), chain.path.begin(), chain.path.end());
  for (auto& directory : granted_path(request, facts)) {
    if (!contains(directories, directory)) directories.push_back(std::move(directory));
  }
  for (const auto& directory : directories) {
    const size_t at = callers.find(":" + directory + ":");
    if (at != std::string::npos && at < system) {
      before += directory + ":";
    } else {
      after += ":" + directory;
    }
  }
  for (const auto& directory : request.tool_path) after += ":" + directory;
  return before + std::string(system_path) + after;
}

bool has_network(const ConfinementPlan& plan) {
  const bool confined = plan.level >= IsolationLevel::subprocess;
  return !plan.hosts.empty() || plan.network == Network::of_host || !confined;
}

// In any letters: npm reads its variables so.
bool is_passed(const RunRequest& request, std::string_view name) {
  const auto is_it = [&](const auto& given) { return ascii::same_without_case(given.name, name); };
  return std::ranges::any_of(request.environment, is_it) || std::ranges::any_of(request.secrets, is_it);
}

bool is_left_out(const Pass& pass) { return !pass.value && looks_secret(pass.name); }

// Run as root, the command has another id than the files, which are shown as its own.
Owners owners_for_git(const Facts& facts) {
  return facts.caller.privileged ? Owners::others : Owners::as_outside;
}

// Where /etc is ours, and no grant of the operator's. Elsewhere only an address can be given that does not
// outdo a repository's own.
bool shows_git_identity(const RunRequest& request, const Facts& facts) {
  const bool has_something = is_known(facts.caller.git) || owners_for_git(facts) == Owners::others;
  return has_something && request.view == View::curated && request.level >= IsolationLevel::namespaces &&
         view::granted_over(request, facts, identity_file) == nullptr;
}

// Whether it can fetch nothing, nor finds in its home what another call fetched.
bool is_offline(const RunRequest& request) {
  const bool has_old_home = !request.fresh_home && std::ranges::any_of(request.own, [](const Grant& own) {
    return own.target == home;
  });
  return request.hosts.empty() && request.network == Network::own && !has_old_home;
}

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
  if (shows_git_identity(request, facts)) {
    variables[std::string(identity_variable)] = identity_file;
  } else if (!facts.caller.git.email.empty()) {
    variables["EMAIL"] = facts.caller.git.email;  // the last place where git looks for it
  }
  if (request.debugging) variables.erase("ASAN_OPTIONS");
  if (request.terminal) {
    const auto term = facts.caller.environment.find("TERM");
    variables["TERM"] = term != facts.caller.environment.end() ? term->second : "xterm";
  }
  if (!has_network(plan)) {
    for (const auto& [name, value] : environment_without_network())
      if (!is_passed(request, name)) variables[std::string(name)] = value;
  }
  const bool offline = is_offline(request);
  for (const auto& chain : toolchains_of(request, facts)) {
    for (const auto& [name, value] : chain.environment) variables[name] = value;
    if (!offline) continue;
    for (const auto& [name, value] : chain.offline) variables[name] = value;
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
  for (const auto& secret : request.secrets) variables[secret.name];
  variables.merge(memory_variables(plan.limits.memory_bytes, variables));
  for (const auto& secret : request.secrets) variables.erase(secret.name);
  plan.secrets = request.secrets;
  for (const auto& [name, value] : variables) plan.environment.push_back({name, value});
}

// Whether it may be changed.
bool add_workspace(ConfinementPlan& plan, const RunRequest& request, const Facts& facts) {
  if (request.workspace_use == WorkspaceUse::hidden) return false;
  const bool writable = request.profile != Profile::readonly && request.workspace_use == WorkspaceUse::shown;
  plan.view.push_back(view::owned_tree(facts.workspace, facts.workspace.path,
                                       writable ? Access::write_run : Access::run, "the workspace"));
  plan.view.back().made_on_demand = request.workspace_of_run;
  // A call can make its worktree belong to anything: what is Cloche's own is no repository.
  const bool repository = facts.git_common && !view::is_own_file(facts, *facts.git_common);
  if (repository && !is_beneath(facts.workspace.path, facts.git_common->path)) {
    // In a layer all of it can be written: what git executes of it is judged afterwards.
    const bool is_layered = writable && writes_of(request) != Writes::live;
    plan.view.push_back(view::owned_tree(*facts.git_common, facts.git_common->path,
                                         is_layered ? Access::write : Access::read,
                                         "the repository this worktree belongs to"));
    for (const auto& place : written_of_repository(request, facts))
      plan.view.push_back(
          view::owned_tree(place, place.path, Access::write, "what git writes for this worktree"));
  }
  return writable;
}

// In memory of its own, sealed before the command starts; so no file of it is ever on the disk.
void add_script(ConfinementPlan& plan, const Script& script) {
  plan.view.push_back(view::memory(std::string(parent_of(script.target)), script.code.size() + (64U << 10),
                                   Access::read, "what the tool runs or reads"));
  plan.view.push_back(view::text(script.target, script.code, "what the tool runs or reads"));
}

// What runs: an executor's own folder as it was loaded, or the command itself as it was when it was judged,
// whatever lies there now, and nothing beside it.
Result<void> add_judged(ConfinementPlan& plan, const Grant& code, std::string why) {
  if (!code.judged) return refusal(code.source + " was never looked at");
  plan.view.push_back(
      view::owned_tree(*code.judged, view::shown_at(code, *code.judged), Access::run, std::move(why)));
  return {};
}

// What Cloche itself puts in. A task's home and /tmp, in place of fresh ones, may lie in Cloche's own
// directory; the tool path, like any grant, may not.
enum class Own { tool_path, task };
Result<void> add_own(ConfinementPlan& plan, const RunRequest& request, const Facts& facts, Own which) {
  for (size_t i = 0; i < request.own.size(); ++i) {
    const Grant& given = request.own[i];
    const FileFact& fact = facts.own[i];
    if (given.writable != (which == Own::task) || (given.writable && request.fresh_home)) continue;
    if (!fact.exists()) return refusal(given.source + " is gone", "call again");
    const bool writable = given.writable && request.profile != Profile::readonly;
    const Access writes = request.noexec ? Access::write : Access::write_run;
    plan.view.push_back(view::owned_tree(fact, given.target.empty() ? fact.path : given.target,
                                         writable ? writes : Access::run, "put there by Cloche"));
    plan.view.back().role = EntryRole::placed;
    plan.view.back().made_on_demand = given.writable;
    // Its home holds from call to call what programs fetch.
    const uint64_t times = given.target == home ? 4 : 1;
    if (writable) plan.view.back().size_bytes = plan.limits.tmp_bytes * times;
  }
  return {};
}

// The system's own programs still run: a copy of one, or a script beside the data, does not.
void forbid_execution(std::vector<ViewEntry>& view) {
  for (auto& entry : view) {
    if (entry.access == Access::write_run) entry.access = Access::write;
    if (entry.owned && entry.access == Access::run) entry.access = Access::read;
  }
}

// Of the names that this call may reach, or that lie below one of them.
std::vector<std::string> ranges_for(const RunRequest& request) {
  std::vector<std::string> ranges;
  for (const auto& text : request.ranges) {
    const auto range = read_host_range(text);
    const bool reached = range && std::ranges::any_of(request.hosts, [&](const std::string& host) {
                           const HostEntry entry = host_entry(host);
                           if (entry.is_any() || entry.port != range->host.port)
                             return entry.port == range->host.port;
                           const bool same =
                               entry.name == range->host.name && entry.below == range->host.below;
                           return same || is_about(entry, range->host.name, entry.port) ||
                                  is_about(range->host, entry.name, entry.port);
                         });
    if (reached) ranges.push_back(text);
  }
  return ranges;
}

void take_ids(ConfinementPlan& plan, const CallerFact& caller) {
  if (caller.privileged) return;  // 1000, mapped to an id of the call's own
  if (caller.uid != 0) plan.inside_uid = caller.uid;
  if (caller.gid != 0) plan.inside_gid = caller.gid;
}

}  // namespace

Result<void> judge_own_id(const CallerFact& caller, IsolationLevel level) {
  const auto promised = required_by(level);
  const bool own_id = contains(promised, LayerId::user_ids);
  if (!caller.stuck_as_root || !own_id) return {};
  return Error{Cause::missing_layer,
               "missing layer user-ids: root without CAP_SETUID, CAP_SETGID and CAP_SYS_ADMIN cannot give "
               "the command an id of its own",
               0, "run as an ordinary user, or give root these capabilities", LayerId::user_ids};
}

Result<void> judge_mount_aliases(const std::vector<MountAlias>& aliases) {
  const std::string fix = "unmount it, or name another directory";
  for (const MountAlias& alias : aliases) {
    if (alias.way == MountAlias::Way::own_is_mount_of_named)
      return refusal("Cloche's own " + alias.own + " is a mount of a directory in " + alias.named +
                         ", where a command could change it",
                     fix);
    if (alias.of != MountAlias::Of::kept)
      return refusal(alias.named + " is a mount of Cloche's own " + alias.own + ", and no command sees that",
                     fix);
    if (alias.writable)
      return refusal(alias.named + " is a mount of " + alias.own +
                         ", which the configuration takes the operator's word from",
                     fix);
  }
  return {};
}

Result<void> judge_session_workspace(const std::string& fixed, const std::string& workspace) {
  if (fixed == workspace) return {};
  return refusal("this session works in " + shown(fixed) + ", and the call comes from " + shown(workspace),
                 "start a new session there");
}

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
    const bool secret =
        std::ranges::any_of(request.secrets, [&](const Secret& given) { return given.name == pass.name; });
    if (is_left_out(pass) && !secret && !contains(names, pass.name)) names.push_back(pass.name);
  }
  return names;
}

Backend backend_of(const RunRequest& request) {
  const auto own = backends_of(request.level);
  return request.backend.value_or(own.empty() ? Backend::native : own.front());
}

Writes writes_of(const RunRequest& request) {
  return request.level >= IsolationLevel::namespaces ? request.writes : Writes::live;
}

std::string declared_for(const RunRequest& request) {
  return request.declared.empty() ? describe_declared("--net", request.hosts) : request.declared;
}

std::vector<LayerId> required_of(const RunRequest& request) {
  std::vector<LayerId> required = required_by(request.level);
  // Bubblewrap and the runtimes lean on it for more, and without a box it is the wall.
  if (request.landlock == Landlock::optional && backend_of(request) == Backend::native)
    std::erase(required, LayerId::landlock);
  if (request.network == Network::own) return required;
  std::erase(required, LayerId::net_namespace);
  // What kept the host's abstract sockets away is gone with it.
  if (!contains(required, LayerId::landlock_scope)) required.push_back(LayerId::landlock_scope);
  return required;
}

Result<ConfinementPlan> plan_run(const RunRequest& request, const Facts& facts) {
  TRY(judge_workspace(facts.workspace, facts.caller.home));
  if (!facts.state.path.empty() && (is_beneath(facts.workspace.path, facts.state.path) ||
                                    is_beneath(facts.state.path, facts.workspace.path))) {
    return refusal("Cloche's own directory " + facts.state.path + " and the workspace " +
                       facts.workspace.path + " lie in each other",
                   "name another workspace, or move it with XDG_STATE_HOME");
  }
  TRY(judge_mount_aliases(facts.mount_aliases));
  TRY(judge_toolchains(toolchains_of(request, facts)));
  TRY(judge_own_ways(request, facts));
  TRY(judge_network(request, facts));
  ConfinementPlan plan;
  plan.level = request.level;
  plan.required = required_of(request);
  plan.backend = backend_of(request);
  plan.argv = request.argv;
  plan.hosts = request.hosts;
  plan.ranges = ranges_for(request);
  plan.published = request.published;
  plan.network = request.network;
  plan.declared = declared_for(request);
  plan.limits = request.limits;
  plan.lowered_by = request.lowered_by;
  plan.terminal = request.terminal;
  plan.debugging = request.debugging;
  plan.umask = request.umask;
  take_ids(plan, facts.caller);

  if (request.view == View::host) {
    TRY(view::add_host(plan, facts));
  } else {
    view::add_system(plan, facts);
  }
  if (request.view == View::curated) view::add_identity(plan, facts);
  if (shows_git_identity(request, facts))
    plan.view.push_back(view::text(std::string(identity_file),
                                   identity_config(facts.caller.git, owners_for_git(facts)),
                                   "what git is told: who commits, and how to compare files"));
  view::add_private(plan, request);
  if (request.view == View::curated)
    add_toolchains(plan, toolchains_of(request, facts));  // the host's own view has them where they are
  const bool writable = add_workspace(plan, request, facts);
  if (request.view == View::curated) view::give_way_to_grants(plan, request, facts);
  TRY(add_grants(plan, request, facts));
  view::add_symlink_grants(plan, request, facts);
  view::cover_mounts(plan, facts);
  TRY(view::keep_parts(plan, facts));
  TRY(view::keep_operators_word(plan, facts));
  view::keep_protected(plan, facts);
  TRY(view::keep_project_config(plan, facts));
  if (request.noexec) forbid_execution(plan.view.edit());
  if (request.code)
    TRY(add_judged(plan, *request.code, "the executor's own folder"));  // which runs even then
  if (request.program) TRY(add_judged(plan, *request.program, "a program of Cloche's own"));
  TRY(add_own(plan, request, facts, Own::tool_path));
  TRY(view::hide_own_files(plan, facts));
  TRY(view::hide_files(plan, facts, writes_of(request)));
  TRY(add_own(plan, request, facts, Own::task));
  if (request.script) add_script(plan, *request.script);
  view::put_in_order(plan.view.edit());
  plan.writes = writes_of(request);
  if (request.writes == Writes::stage && plan.writes == Writes::live)
    return refusal(
        "the isolation level " + std::string(name_of(request.level)) +
            " has no layers: what a command writes is in the project at once, and cannot be staged",
        "use --isolation namespace, or --writes live");
  if (plan.writes != Writes::live) {
    TRY(layer_writes(plan));
    show_live(plan, facts.live);
  }
  if (!facts.caller.privileged) TRY(judge_mounts_in_layers(plan, facts.mounts_below));
  add_environment(plan, request, facts);

  const bool hidden = request.workspace_use == WorkspaceUse::hidden;
  plan.directory = request.directory.value_or(hidden ? std::string(home) : facts.workspace.path);
  if (plan.directory.empty() || plan.directory[0] != '/')
    plan.directory = facts.workspace.path + "/" + plan.directory;
  plan.directory = plainly_written(plan.directory);
  plan.plain_directory = request.tool_call && is_beneath(facts.workspace.path, plan.directory);
  if (writable) plan.workspace = facts.workspace.path;
  return plan;
}

}  // namespace cloche
