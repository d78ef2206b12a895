#include "doors/hook/hook_place.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/sha256.hpp"
#include "base/text/visible_text.hpp"
#include "store/record/run_place.hpp"
#include "store/workspace/open_beneath.hpp"

namespace cloche {
namespace {

// An agent's own name for its session, when it can be one of ours.
std::string task_of(const std::string& session) {
  if (check_task_id(session).ok() && session.size() <= 48) return session;
  return "session-" + sha256(session).substr(0, 16);
}

Result<std::string> resolved(const std::string& directory, const std::string& what) {
  auto held = sys::hold(directory);
  if (!held.ok()) return refusal(what + " " + shown(directory) + " cannot be opened: " + held.error().what);
  return std::move(held).value().path;
}

bool is_link(const std::string& path) {
  struct stat seen {};
  return ::lstat(path.c_str(), &seen) == 0 && S_ISLNK(seen.st_mode);
}

// No magic link on the way: /proc/self/cwd is our own directory here, and the agent's where it opens the
// path.
bool is_the_same_to_all(const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_MAGICLINKS;
  const OwnedFd fd(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
  struct statfs where {};
  return fd && ::fstatfs(fd.get(), &where) == 0 && where.f_type != PROC_SUPER_MAGIC;
}

Result<std::string> followed(const std::string& path) {
  if (path.find('\0') != std::string::npos) return refusal("the path has a NUL in it");
  std::string there = path;
  std::string rest;
  // Up to what is there; what is not has no links in it.
  while (true) {
    const auto held = sys::hold(there);
    if (held.ok() && !is_the_same_to_all(there))
      return refusal(shown(path) + " leads through /proc, where it means something else to each process",
                     "name the file itself");
    if (held.ok()) return rest.empty() ? held.value().path : tidied(held.value().path, rest);
    if (held.error().number != ENOENT) return held.error();
    if (is_link(there)) return refusal(shown(path) + " is a link that leads nowhere");
    const size_t slash = there.find_last_of('/');
    if (slash == std::string::npos || there == "/") return held.error();
    rest = there.substr(slash + 1) + (rest.empty() ? "" : "/" + rest);
    if (has_dots(rest)) return refusal(shown(path) + " goes up with .. from a directory that does not exist");
    there.resize(slash == 0 ? 1 : slash);
  }
}

// Claude Code names the project it was started in, and its hooks stand wherever the model has gone. Codex's
// hooks stand where the session began. One that looks like both is neither.
Result<std::string> root_of(const HookCall& call, const std::string& said_workspace,
                            const Environment& environment) {
  if (!said_workspace.empty()) return said_workspace;
  const std::string project = environment.get("CLAUDE_PROJECT_DIR");
  if (call.agent == Agent::claude) {
    if (is_plain_absolute(project)) return project;
    return refusal("the agent does not say which project it was started in",
                   "Claude Code sets CLAUDE_PROJECT_DIR for its hooks; use a newer one");
  }
  if (!project.empty()) return refusal("the call looks like one of Codex, but CLAUDE_PROJECT_DIR is set");
  return TRY(sys::hold(".")).path;
}

// One file for each agent of the session: each has a shell directory of its own.
std::string end_file_of(const HookCall& call) {
  const std::string file = ".cloche-end-directory";
  return call.subagent.empty() ? file : file + "-" + sha256(call.subagent).substr(0, 16);
}

}  // namespace

SessionKey session_key(const HookCall& call) {
  return {std::string(name_of(call.agent)), call.session, call.subagent};
}

Result<std::string> hook_workspace(const HookCall& call, const std::string& said_workspace,
                                   const Environment& environment) {
  return resolved(TRY(root_of(call, said_workspace, environment)), "the project");
}

Result<HookPlace> hook_place(const HookCall& call, const std::string& workspace) {
  HookPlace place{.workspace = workspace, .task = task_of(call.session)};
  place.stands = TRY(resolved(call.directory, "the directory"));
  place.directory = place.stands;
  if (call.plans_only) place.profile = name_of(Profile::readonly);
  if (!is_beneath(place.workspace, place.stands))
    return refusal(shown(place.stands) + " lies outside the project " + shown(place.workspace),
                   "work in the project's own directories");
  return place;
}

HookPlace shell_place(HookPlace place, const HookCall& call, const AgentSessions& sessions) {
  if (call.agent != Agent::claude) return place;  // Codex starts every command where it is told to
  const JsonValue* background = call.input.find("run_in_background");
  // What else carries a command runs in the background too.
  const bool foreground =
      call.tool == "Bash" && (background == nullptr || (background->is_boolean() && !background->truth));
  if (foreground) place.end_file = end_file_of(call);
  place.in_background = !foreground;
  const auto last = sessions.directory(session_key(call));
  if (!last || last->client != place.stands) return place;
  place.directory = last->shell;
  if (is_plain_directory(place.workspace, place.directory)) return place;
  place.note =
      "the directory " + shown(place.directory) + " is gone; the command starts in " + shown(place.workspace);
  place.directory = place.workspace;
  return place;
}

std::string identity_of(const Session& session) {
  struct stat seen {};
  if (::fstat(session.held_workspace->get(), &seen) != 0) return {};
  return std::to_string(seen.st_dev) + ":" + std::to_string(seen.st_ino);
}

bool project_sets(const std::string& workspace, std::string_view variable) {
  for (const char* name : {"/.claude/settings.json", "/.claude/settings.local.json"}) {
    const auto text = sys::read_file(workspace + name);
    if (!text.ok() && text.error().number == ENOENT) continue;
    const auto settings = text.ok() ? read_json(text.value(), "") : Result<JsonValue>(text.error());
    if (!settings.ok()) return true;
    const JsonValue* variables = settings.value().find("env");
    if (variables != nullptr && (!variables->is_object() || variables->find(variable) != nullptr))
      return true;
  }
  return false;
}

bool is_plain_directory(const std::string& workspace, const std::string& directory) {
  if (directory.find('\0') != std::string::npos) return false;
  if (directory == workspace) return true;
  if (!is_beneath(workspace, directory)) return false;
  const auto root = sys::open(workspace, O_PATH | O_DIRECTORY);
  const size_t skipped = workspace == "/" ? 1 : workspace.size() + 1;
  return root.ok() && open_beneath(root.value().get(), directory.substr(skipped), O_PATH | O_DIRECTORY,
                                   Links::refused, directory)
                          .ok();
}

Result<std::string> where_it_leads(const std::string& directory, const std::string& path) {
  const std::string written = path.starts_with('/') ? path : directory + "/" + path;
  std::string by_links = TRY(followed(written));
  // Behind a link the kernel resolves .. differently from an agent that removes it from the text first.
  if (has_dots(path) && TRY(followed(tidied(directory, path))) != by_links)
    return refusal(shown(path) + " goes up from behind a link", "write it without ..");
  return by_links;
}

Result<std::string> path_of_cloche() {
  const std::string own = TRY(sys::read_link("/proc/self/exe"));
  const std::string path = std::string(parent_of(own)) + "/cloche";
  const bool plain =
      path.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-") ==
      std::string::npos;
  if (!plain) return refusal("Cloche is installed in " + path + ", which a shell would not read as one word");
  return path;
}

// The model gets no fix of an Error to read, and the user reads what the model reads.
Result<void> check_hook_writes(const Settings& settings) {
  if (settings.writes.value != Writes::stage) return {};
  return refusal(
      text_of(settings.writes.origin) +
      ": \"writes\": \"stage\" is not for a hook, because the agent's own file tools would not see "
      "what its commands wrote: the user has to set \"writes\": \"commit\"");
}

SessionOptions hook_session(const HookPlace& place) {
  SessionOptions options = default_session();
  options.front_end = FrontEnd::agent;
  options.operators.workspace = place.workspace;
  options.operators.directory = place.directory;
  options.operators.end_file = place.end_file;
  options.operators.in_background = place.in_background;
  options.operators.profile_name = place.profile;
  if (const auto shipped = shipped_profile(place.profile)) options.operators.profile = *shipped;
  // The agent has its own time-out for a command; ours is that of `cloche run`.
  options.operators.limits.wall_ms = Limits{}.wall_ms;
  options.operators.limits.output_bytes = Limits{}.output_bytes;
  options.run_name = run_of_task(place.task, options.operators);
  return options;
}

}  // namespace cloche
