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
#include "base/sys/sys.hpp"
#include "base/text/ascii.hpp"

namespace cloche {
namespace {

std::string_view name_of_file(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// As clients make them. A name that could have been guessed or planted beforehand is none.
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

std::optional<struct stat> look(const std::string& path) {
  struct stat seen {};
  const OwnedFd fd = open_without_links(path, O_PATH);
  if (!fd || ::fstat(fd.get(), &seen) != 0) return std::nullopt;
  return seen;
}

// Of the directories from / to this one: no link, each the caller's or root's, and none that another user
// can put something into or, where it is sticky as /tmp, take something out of. A group that is the caller's
// own counts as the caller, because that is the umask of many systems.
bool is_closed_way(const std::string& directory) {
  std::string at = "/";
  for (const auto name : components_of(directory)) {
    at += (at == "/" ? "" : "/") + std::string(name);
    const auto seen = look(at);
    if (!seen || !S_ISDIR(seen->st_mode)) return false;
    const bool callers = seen->st_uid == ::geteuid();
    if (!callers && seen->st_uid != 0) return false;
    const bool own_group = callers && seen->st_gid == ::getegid() && ::getegid() != 0;
    const bool open = (seen->st_mode & 002) != 0 || ((seen->st_mode & 020) != 0 && !own_group);
    if (open && (seen->st_mode & S_ISVTX) == 0) return false;
  }
  return true;
}

bool is_callers_file(const struct stat& seen) { return S_ISREG(seen.st_mode) && seen.st_uid == ::geteuid(); }

struct Places {
  std::string results;
  std::string closed;  // below /tmp, where every user can make a directory of this name
  std::string tasks;   // beneath it
};

Places places_of(const ClientFiles& session) {
  const std::string below = "/" + session.project + "/" + session.id;
  const std::string closed = session.temporary + "/claude-" + std::to_string(::geteuid());
  return {session.config + "/projects" + below + "/tool-results", closed, closed + below + "/tasks"};
}

// The client makes the first directory below /tmp 0700 and those in it by the umask: the first one closes the
// way for every other user.
bool is_closed_place(const Places& places, const std::string& directory) {
  if (!is_closed_way(directory)) return false;
  if (directory != places.tasks) return true;
  const auto seen = look(places.closed);
  return seen && seen->st_uid == ::geteuid() && (seen->st_mode & 07777) == 0700;
}

// Long output of a command is written to tasks/ID.output and linked as tool-results/ID.txt, so that one file
// has two names where both directories are on one file system. Empty: this name has no such other.
std::string other_name(const Places& places, const std::string& path) {
  const std::string name(name_of_file(path));
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot == 0) return {};
  const std::string stem = name.substr(0, dot);
  const std::string ending = name.substr(dot);
  if (parent_of(path) == places.results && ending == ".txt") return places.tasks + "/" + stem + ".output";
  if (parent_of(path) == places.tasks && ending == ".output") return places.results + "/" + stem + ".txt";
  return {};
}

bool has_no_foreign_name(const Places& places, const std::string& path, const struct stat& seen) {
  if (seen.st_nlink == 1) return true;
  const std::string other = other_name(places, path);
  if (seen.st_nlink != 2 || other.empty() || !is_closed_place(places, std::string(parent_of(other))))
    return false;
  const auto twin = look(other);
  return twin && twin->st_dev == seen.st_dev && twin->st_ino == seen.st_ino;
}

// The client's letters for a plan: words with dashes between.
bool is_plan_name(std::string_view name) {
  return !name.empty() && name.size() <= 120 && name.front() != '-' &&
         ascii::all(name, [](char c) { return ascii::is_digit(c) || (c >= 'a' && c <= 'z') || c == '-'; });
}

// One line of the transcript. The model's words are within strings of it; the members are the client's.
std::optional<std::string> plan_named_in(std::string_view line, const std::string& id) {
  const auto read = read_json(line, "", {.bytes = size_t{8} << 20, .comments = JsonComments::refused});
  if (!read.ok()) return std::nullopt;
  const JsonValue* session = read.value().find("sessionId");
  const JsonValue* name = read.value().find("slug");
  if (session == nullptr || session->text != id || name == nullptr || !name->is_string()) return std::nullopt;
  return name->text;
}

Result<std::string> end_of_file(int fd, off_t size, size_t most) {
  const off_t from = size > static_cast<off_t>(most) ? size - static_cast<off_t>(most) : 0;
  std::string text(static_cast<size_t>(size - from), '\0');
  size_t have = 0;
  while (have < text.size()) {
    const ssize_t count =
        ::pread(fd, text.data() + have, text.size() - have, from + static_cast<off_t>(have));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("read the agent's transcript");
    if (count == 0) break;
    have += static_cast<size_t>(count);
  }
  text.resize(have);
  if (from > 0) text.erase(0, std::min(text.size(), text.find('\n')));  // a line that has begun before
  return text;
}

Error no_plan(const std::string& why) { return refusal("the agent's plan file is not known: " + why); }

// The newest line that names it; the client writes the name into each line of a session that has a plan.
Result<std::string> plan_name(const ClientFiles& session) {
  constexpr size_t most_bytes = size_t{4} << 20;
  constexpr int most_lines = 50;
  const std::string transcript =
      session.config + "/projects/" + session.project + "/" + session.id + ".jsonl";
  const OwnedFd fd = open_without_links(transcript, O_RDONLY);
  struct stat seen {};
  if (!fd || ::fstat(fd.get(), &seen) != 0 || !is_callers_file(seen) || seen.st_nlink != 1)
    return no_plan("the transcript is not a file of the caller's");
  const std::string text = TRY(end_of_file(fd.get(), seen.st_size, most_bytes));
  std::string_view rest = text;
  for (int line = 0; line < most_lines && !rest.empty(); ++line) {
    while (rest.ends_with('\n')) rest.remove_suffix(1);
    const size_t start = rest.rfind('\n') + 1;  // 0 where there is none
    if (auto name = plan_named_in(rest.substr(start), session.id)) {
      if (!is_plan_name(*name)) return no_plan("the transcript names it in an unknown way");
      return *std::move(name);
    }
    rest = rest.substr(0, start);
  }
  return no_plan("the transcript does not name it");
}

// The client writes its transcript a moment after it calls the hook, so the first call of a session comes
// before the line that names the plan.
Result<std::string> plan_name_in_time(const ClientFiles& session, uint64_t patience_ms) {
  constexpr useconds_t pause_us = 20'000;
  const uint64_t deadline = sys::monotonic_ms() + patience_ms;
  while (true) {
    auto name = plan_name(session);
    if (name.ok() || sys::monotonic_ms() >= deadline) return name;
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
  const Places places = places_of(session);
  const std::string directory(parent_of(path));
  if (directory != places.results && directory != places.tasks) return false;
  if (!is_closed_place(places, directory)) return false;
  const auto seen = look(path);
  return seen && is_callers_file(*seen) && has_no_foreign_name(places, path, *seen);
}

Result<std::string> plan_file(const ClientFiles& session, uint64_t patience_ms) {
  const std::string directory = session.config + "/plans";
  if (!is_closed_way(directory)) return no_plan(directory + " is not the caller's alone");
  std::string path = directory + "/" + TRY(plan_name_in_time(session, patience_ms)) + ".md";
  struct stat seen {};
  if (::lstat(path.c_str(), &seen) != 0) {
    if (errno == ENOENT) return path;
    return no_plan(path + " cannot be looked at");
  }
  const auto opened = look(path);
  if (!opened || !is_callers_file(*opened) || opened->st_nlink != 1)
    return no_plan(path + " is not a file of the caller's with one name");
  return path;
}

}  // namespace cloche
