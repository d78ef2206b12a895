#include "store/sealed/client_files.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/json/json_text.hpp"
#include "base/sys/fd.hpp"
#include "base/sys/path.hpp"
#include "base/sys/read_at.hpp"
#include "base/sys/sys.hpp"
#include "base/text/ascii.hpp"
#include "policy/gates/client_files.hpp"
#include "store/host/system_facts.hpp"

namespace cloche {
namespace {

std::string_view name_of_file(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// As clients make them: other users cannot guess one and make the directory beforehand.
bool is_uuid(std::string_view text) {
  constexpr std::string_view shape = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  if (text.size() != shape.size()) return false;
  for (size_t at = 0; at < shape.size(); ++at)
    if (shape[at] == '-' ? text[at] != '-' : !ascii::is_hex(text[at])) return false;
  return true;
}

OwnedFd open_without_links(const std::string& path, int flags) {
  struct open_how how {};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if ((flags & O_PATH) != 0) how.flags = static_cast<uint64_t>(flags | O_CLOEXEC | O_NOFOLLOW);
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return OwnedFd(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
}

CallerIds callers_ids() { return {::geteuid(), ::getegid()}; }

ClientFileFact fact_of(const OwnedFd& fd) {
  struct stat seen {};
  if (!fd || ::fstat(fd.get(), &seen) != 0) return {};
  return {.kind = fact_from(seen, "").kind,
          .uid = seen.st_uid,
          .gid = seen.st_gid,
          .mode = seen.st_mode & 07777,
          .names = seen.st_nlink,
          .device = seen.st_dev,
          .inode = seen.st_ino};
}

ClientFileFact look_at_file(const std::string& path) { return fact_of(open_without_links(path, O_PATH)); }

DirectoriesFact look_at_directories(const std::string& directory) {
  DirectoriesFact directories;
  std::string at = "/";
  for (const auto name : components_of(directory)) {
    at += (at == "/" ? "" : "/") + std::string(name);
    directories.push_back(look_at_file(at));
  }
  return directories;
}

struct OutputDirectories {
  std::string results;
  std::string first_below_tmp;  // where every user can make a directory of this name
  std::string tasks;            // beneath it
};

OutputDirectories directories_of(const ClientFiles& session) {
  const std::string below = "/" + session.project + "/" + session.id;
  const std::string first = session.temporary + "/claude-" + std::to_string(::geteuid());
  return {session.config + "/projects" + below + "/tool-results", first, first + below + "/tasks"};
}

// The client makes the first directory below /tmp 0700 and those in it by the umask: the first one keeps
// every other user out.
StoredFileFact look_at_stored(const OutputDirectories& directories, const std::string& path) {
  const std::string directory(parent_of(path));
  StoredFileFact fact{.directories = look_at_directories(directory), .file = look_at_file(path)};
  if (directory == directories.tasks) fact.first_below_tmp = look_at_file(directories.first_below_tmp);
  return fact;
}

// Long output of a command is written to tasks/ID.output and linked as tool-results/ID.txt. Empty: this name
// has no such other.
std::string other_name(const OutputDirectories& directories, const std::string& path) {
  const std::string name(name_of_file(path));
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot == 0) return {};
  const std::string stem = name.substr(0, dot);
  const std::string ending = name.substr(dot);
  if (parent_of(path) == directories.results && ending == ".txt")
    return directories.tasks + "/" + stem + ".output";
  if (parent_of(path) == directories.tasks && ending == ".output")
    return directories.results + "/" + stem + ".txt";
  return {};
}

// One line of the transcript. The client writes the members; a model's words are only within strings.
std::optional<std::string> plan_named_in(std::string_view line, const std::string& id) {
  const auto read = read_json(line, "", {.bytes = size_t{8} << 20, .comments = JsonComments::refused});
  if (!read.ok()) return std::nullopt;
  const JsonValue* session = read.value().find("sessionId");
  const JsonValue* name = read.value().find("slug");
  if (session == nullptr || session->text != id || name == nullptr || !name->is_string()) return std::nullopt;
  return name->text;
}

Result<std::string> end_of_file(int fd, size_t most) {
  struct stat seen {};
  if (::fstat(fd, &seen) != 0) return system_error("read the agent's transcript");
  const auto size = static_cast<uint64_t>(seen.st_size);
  const uint64_t from = size - std::min<uint64_t>(size, most);
  std::string text = TRY(sys::read_at(fd, from, size - from, "read the agent's transcript"));
  if (from > 0) text.erase(0, std::min(text.size(), text.find('\n')));  // the end of a line
  return text;
}

// In the newest line that names it; the client writes the name into each line of a session that has a plan.
std::optional<std::string> newest_plan_name(std::string_view text, const std::string& id) {
  constexpr int most_lines = 50;
  for (int line = 0; line < most_lines && !text.empty(); ++line) {
    while (text.ends_with('\n')) text.remove_suffix(1);
    const size_t start = text.rfind('\n') + 1;  // 0 where there is none
    if (auto name = plan_named_in(text.substr(start), id)) return name;
    text = text.substr(0, start);
  }
  return std::nullopt;
}

Result<void> look_at_transcript(const ClientFiles& session, PlanFileFact& fact) {
  constexpr size_t most_bytes = size_t{4} << 20;
  const OwnedFd fd = open_without_links(
      session.config + "/projects/" + session.project + "/" + session.id + ".jsonl", O_RDONLY);
  fact.transcript = fact_of(fd);
  if (is_callers_file(fact.transcript, callers_ids()))
    fact.name = newest_plan_name(TRY(end_of_file(fd.get(), most_bytes)), session.id);
  return {};
}

// The client writes its transcript a moment after it calls the hook, so the first call of a session comes
// before the line that names the plan.
Result<void> wait_for_plan_name(const ClientFiles& session, uint64_t patience_ms, PlanFileFact& fact) {
  constexpr useconds_t pause_us = 20'000;
  const uint64_t deadline = sys::monotonic_ms() + patience_ms;
  while (true) {
    const auto looked = look_at_transcript(session, fact);
    const bool known = looked.ok() && fact.name && is_plan_name(*fact.name);
    if (known || sys::monotonic_ms() >= deadline) return looked;
    ::usleep(pause_us);
  }
}

}  // namespace

std::optional<ClientFiles> client_files(std::string_view transcript, std::string_view id) {
  if (!is_plain_absolute(transcript) || transcript.find('\0') != std::string_view::npos || !is_uuid(id))
    return std::nullopt;
  if (name_of_file(transcript) != std::string(id) + ".jsonl") return std::nullopt;
  const std::string_view project = parent_of(transcript);
  const std::string_view projects = parent_of(project);
  const std::string_view config = parent_of(projects);
  if (name_of_file(projects) != "projects" || config == "/" || name_of_file(project).empty())
    return std::nullopt;
  return ClientFiles{std::string(config), std::string(name_of_file(project)), std::string(id)};
}

bool is_stored_output(const ClientFiles& session, const std::string& path) {
  if (!is_plain_absolute(path) || path.find('\0') != std::string::npos) return false;
  const OutputDirectories directories = directories_of(session);
  const std::string directory(parent_of(path));
  if (directory != directories.results && directory != directories.tasks) return false;
  StoredOutputFact fact{.named = look_at_stored(directories, path)};
  if (const std::string other = other_name(directories, path); fact.named.file.names == 2 && !other.empty())
    fact.other = look_at_stored(directories, other);
  return is_output_of_session(fact, callers_ids());
}

Result<std::string> plan_file(const ClientFiles& session, uint64_t patience_ms) {
  PlanFileFact fact{.directory = session.config + "/plans"};
  fact.directories = look_at_directories(fact.directory);
  if (are_closed_to_others(fact.directories, callers_ids()))
    TRY(wait_for_plan_name(session, patience_ms, fact));
  if (fact.name && is_plan_name(*fact.name)) {
    struct stat seen {};
    const std::string path = fact.directory + "/" + *fact.name + ".md";
    fact.exists = ::lstat(path.c_str(), &seen) == 0 || errno != ENOENT;
    fact.file = look_at_file(path);
  }
  return judge_plan_file(fact, callers_ids());
}

}  // namespace cloche
