#include "store/record/run_place.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>

#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/private_file.hpp"
#include "base/sys/sys.hpp"
#include "base/text/command_words.hpp"
#include "base/text/sha256.hpp"

namespace cloche {
namespace {

constexpr const char* artifacts_name = "artifacts";

// Files of the record are Cloche's own: one that another user could have written is not believed.
Error not_ours(const std::string& shown_name, const std::string& why) {
  return refusal(shown_name + " " + why + ", so it cannot be trusted with a record",
                 "move it away, or name another run");
}

// Why a file or directory that is there cannot be part of a record; empty: it can.
std::string distrust(const struct stat& seen, mode_t type, RecordUse use) {
  if ((seen.st_mode & S_IFMT) != type)
    return type == S_IFDIR ? "is not a directory" : "is not a regular file";
  if (use == RecordUse::read) return {};
  if (seen.st_uid != ::geteuid()) return "belongs to another user";
  if ((seen.st_mode & 022) != 0) return "can be written by others";
  if (type == S_IFREG && seen.st_nlink != 1) return "has a second name (a hard link)";
  return {};
}

Result<OwnedFd> trusted(OwnedFd fd, mode_t type, RecordUse use, const std::string& shown_name) {
  struct stat seen {};
  if (::fstat(fd.get(), &seen) != 0) return system_error("look at " + shown_name);
  if (const std::string why = distrust(seen, type, use); !why.empty()) return not_ours(shown_name, why);
  return fd;
}

// Without waiting for the other end of a FIFO, and never through a link.
Result<OwnedFd> open_existing(int parent, const std::string& name, int flags, mode_t type, RecordUse use,
                              const std::string& shown_name) {
  OwnedFd fd(::openat(parent, name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (fd) return trusted(std::move(fd), type, use, shown_name);
  if (errno == ELOOP) return not_ours(shown_name, "is a link");
  if (errno == ENXIO || errno == EISDIR) return not_ours(shown_name, "is not a regular file");
  if (errno != ENOTDIR) return system_error("open " + shown_name);
  struct stat seen {};
  const bool link = ::fstatat(parent, name.c_str(), &seen, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(seen.st_mode);
  return not_ours(shown_name, link ? "is a link" : "is not a directory");
}

bool is_directory(const std::string& path) {
  struct stat seen {};
  return ::stat(path.c_str(), &seen) == 0 && S_ISDIR(seen.st_mode);
}

// It is written again only when it changes, because a call in a run that goes on has no time for it.
void remember_last(const RunPlace& place) {
  if (place.state.empty()) return;
  const std::string file = place.state + "/last";
  const auto before = read_private_file(file, 4096);
  if (before.ok() && before.value() == place.directory + "\n") return;
  (void)write_private_file(file, place.directory + "\n");
}

// A record without a workspace in it.
bool is_bare_record(const std::string& directory) {
  return is_directory(directory + "/" + transcripts_name) && !is_directory(directory + "/" + artifacts_name);
}

Result<RunPlace> place_existing(const std::string& path, const std::string& state) {
  const sys::Held held = TRY(sys::hold(path));
  if (!is_directory(held.path)) return refusal(shown(path) + " is not the directory of a run");
  const bool below_state = !state.empty() && parent_of(held.path) == state + "/runs";
  return RunPlace{held.path, is_bare_record(held.path) || below_state ? RunLayout::state : RunLayout::given,
                  state};
}

Result<std::string> make_runs_directory(const std::string& state) {
  if (state.empty())
    return refusal("there is no state directory to keep a run in",
                   "name one with --run DIR, or set XDG_STATE_HOME");
  std::string runs = state + "/runs";
  if (!make_private_directories(runs)) return system_error("make " + runs);
  return runs;
}

Result<RunPlace> place_in_state(const std::string& directory, const std::string& state) {
  RunPlace place{TRY(sys::hold(directory)).path, RunLayout::state, state};
  remember_last(place);
  return place;
}

// A run of the state directory is found there by its name, and its lines have another layout.
Result<void> judge_given_run(const std::string& directory, const std::string& state) {
  if (state.empty()) return {};
  const auto there = sys::hold(directory);
  const auto own = sys::hold(state);
  if (!there.ok() || !own.ok() || !is_beneath(own.value().path, there.value().path)) return {};
  return refusal("the run directory " + directory + " lies in Cloche's own " + state,
                 "name another one with --run");
}

Result<RunLayout> layout_of_given(const std::string& directory, RunWorkspace workspace) {
  if (workspace == RunWorkspace::elsewhere)
    return is_directory(directory + "/" + artifacts_name) ? RunLayout::given : RunLayout::state;
  if (!is_bare_record(directory)) return RunLayout::given;
  return refusal("the run directory " + directory + " has the record of calls in a workspace elsewhere",
                 "name it with --workspace, or another run");
}

}  // namespace

std::string RunPlace::run_id() const { return directory.substr(directory.rfind('/') + 1); }

std::string RunPlace::workspace() const {
  return layout == RunLayout::given ? directory + "/" + artifacts_name : "";
}

std::string RunPlace::transcripts() const {
  return (layout == RunLayout::given ? workspace() : directory) + "/" + transcripts_name;
}

std::vector<std::string> RunPlace::own_files() const {
  if (layout == RunLayout::state) return {directory};
  return {audit(), directory + "/" + lock_name, directory + "/" + task_homes_name,
          directory + "/" + quarantine_name, transcripts()};
}

std::string make_run_id(uint64_t unix_seconds, uint16_t salt) {
  using namespace std::chrono;
  const sys_seconds now{seconds(unix_seconds)};
  const year_month_day date{floor<days>(now)};
  const hh_mm_ss time{now - floor<days>(now)};
  char text[64];
  std::snprintf(text, sizeof text, "r-%04d%02u%02u-%02d%02d%02d-%04x", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                static_cast<int>(time.seconds().count()), static_cast<unsigned>(salt));
  return text;
}

Result<RunPlace> place_given_run(const std::string& directory, const std::string& state,
                                 RunWorkspace workspace) {
  TRY(judge_given_run(directory, state));
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)
    return system_error("make the run directory " + directory);
  const RunLayout layout = TRY(layout_of_given(directory, workspace));
  const RunPlace place{TRY(sys::hold(directory)).path, layout, state};
  const OwnedFd held = TRY(hold_run_directory(place, RecordUse::write));
  if (workspace == RunWorkspace::elsewhere) {
    remember_last(place);
    return place;
  }
  // The workspace is the user's: it has the mode that their other directories have.
  if (::mkdirat(held.get(), artifacts_name, 0755) != 0 && errno != EEXIST)
    return system_error("make " + place.workspace());
  remember_last(place);
  return place;
}

Result<RunPlace> plan_given_run(const std::string& directory, const std::string& state,
                                RunWorkspace workspace) {
  TRY(judge_given_run(directory, state));
  struct stat seen {};
  if (::lstat(directory.c_str(), &seen) == 0) {
    const RunLayout layout = TRY(layout_of_given(directory, workspace));
    RunPlace place{TRY(sys::hold(directory)).path, layout, state};
    TRY(hold_run_directory(place, RecordUse::write));
    return place;
  }
  std::string path = directory;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const size_t slash = path.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
  if (::access(parent.c_str(), W_OK | X_OK) != 0) return system_error("make the run directory " + directory);
  const std::string above = TRY(sys::hold(parent)).path;
  const RunLayout layout = workspace == RunWorkspace::elsewhere ? RunLayout::state : RunLayout::given;
  return RunPlace{(above == "/" ? "" : above) + "/" + path.substr(slash + 1), layout, state};
}

Result<RunPlace> plan_named_run(const std::string& id, const std::string& state) {
  TRY(check_run_id(id));
  return RunPlace{state + "/runs/" + id, RunLayout::state, state};
}

Result<RunPlace> place_new_run(const std::string& state) {
  const std::string runs = TRY(make_runs_directory(state));
  for (int attempt = 0; attempt < 16; ++attempt) {
    uint16_t salt = 0;
    if (::getrandom(&salt, sizeof salt, 0) != sizeof salt) return system_error("get a random number");
    const std::string directory = runs + "/" + make_run_id(static_cast<uint64_t>(::time(nullptr)), salt);
    if (::mkdir(directory.c_str(), 0700) == 0) return place_in_state(directory, state);
    if (errno != EEXIST) return system_error("make " + directory);
  }
  return system_error("find a name for a new run", EEXIST);
}

Result<RunPlace> place_named_run(const std::string& id, const std::string& state) {
  TRY(check_run_id(id));
  const std::string directory = TRY(make_runs_directory(state)) + "/" + id;
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) return system_error("make " + directory);
  return place_in_state(directory, state);
}

// Without a look at any other run: this is on the way of every command.
Result<RunPlace> place_day_run(const std::string& workspace, int held_workspace, const std::string& state) {
  // With the time of birth, because the number of a removed directory is given to the next one.
  struct statx seen {};
  if (::syscall(SYS_statx, held_workspace, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &seen) != 0)
    return system_error("look at " + workspace);
  std::string identity;
  for (const uint64_t part :
       {uint64_t{seen.stx_dev_major}, uint64_t{seen.stx_dev_minor}, uint64_t{seen.stx_ino},
        static_cast<uint64_t>(seen.stx_btime.tv_sec), uint64_t{seen.stx_btime.tv_nsec}})
    identity += std::to_string(part) + ":";
  const std::string day = make_run_id(static_cast<uint64_t>(::time(nullptr)), 0).substr(2, 8);
  const std::string id = "w-" + day + "-" + sha256(identity + "\n" + workspace).substr(0, 12);
  const std::string directory = state + "/runs/" + id;
  // The state directory is hidden from commands by its path; what a link leads to is not.
  const auto is_link = [](const std::string& path) {
    struct stat at {};
    return ::lstat(path.c_str(), &at) == 0 && S_ISLNK(at.st_mode);
  };
  if (is_link(state + "/runs") || is_link(directory))
    return refusal("the record " + directory + " lies behind a link",
                   "put the directory itself there, or set XDG_STATE_HOME");
  if (auto held = sys::hold(directory); held.ok()) {
    RunPlace place{std::move(held.value().path), RunLayout::state, state};
    remember_last(place);
    return place;
  }
  return place_named_run(id, state);
}

Result<RunPlace> find_run(const std::string& word, const std::string& state) {
  if (word == "last") {
    const auto last = state.empty() ? system_error("look", ENOENT) : read_private_file(state + "/last", 4096);
    if (!last.ok()) return refusal("there is no last run", "name a run by its id or its directory");
    const std::string directory = last.value().substr(0, last.value().find('\n'));
    if (!is_directory(directory)) return refusal("the last run, " + shown(directory) + ", is gone");
    return place_existing(directory, state);
  }
  if (!state.empty() && is_bare_word(word) && is_directory(state + "/runs/" + word))
    return place_existing(state + "/runs/" + word, state);
  if (is_directory(word)) return place_existing(word, state);
  return refusal("there is no run '" + shown(word) + "'", "name one by its id, its directory, or 'last'");
}

bool has_record(const RunPlace& place) {
  return ::access(place.audit().c_str(), F_OK) == 0 || !names_in(place.transcripts()).empty();
}

std::vector<RunPlace> runs_in(const std::string& state) {
  std::vector<RunPlace> places;
  if (state.empty()) return places;
  for (const auto& name : names_in(state + "/runs")) {
    const std::string directory = state + "/runs/" + name;
    if (is_bare_word(name) && is_directory(directory)) places.push_back({directory, RunLayout::state, state});
  }
  return places;
}

Result<OwnedFd> hold_run_directory(const RunPlace& place, RecordUse use) {
  return open_existing(AT_FDCWD, place.directory, O_RDONLY | O_DIRECTORY, S_IFDIR, use, place.directory);
}

Result<OwnedFd> hold_transcripts(const RunPlace& place, int run_directory, RecordUse use) {
  const auto hold = use == RecordUse::write ? make_record_directory : open_record_directory;
  if (place.layout == RunLayout::state) return hold(run_directory, transcripts_name, place.transcripts());
  // The workspace may be as open as its owner likes; what lies in it is judged for itself.
  OwnedFd workspace(::openat(run_directory, artifacts_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!workspace) return system_error("open " + place.workspace());
  return hold(workspace.get(), transcripts_name, place.transcripts());
}

// Opened first, and made when it is missing: most calls continue a record.
Result<OwnedFd> make_record_directory(int parent, const std::string& name, const std::string& shown_name) {
  const auto open = [&] {
    return open_existing(parent, name, O_RDONLY | O_DIRECTORY, S_IFDIR, RecordUse::write, shown_name);
  };
  auto found = open();
  if (found.ok() || found.error().number != ENOENT) return found;
  if (::mkdirat(parent, name.c_str(), 0700) != 0 && errno != EEXIST)
    return system_error("make " + shown_name);
  return open();
}

Result<OwnedFd> open_record_directory(int parent, const std::string& name, const std::string& shown_name) {
  return open_existing(parent, name, O_RDONLY | O_DIRECTORY, S_IFDIR, RecordUse::read, shown_name);
}

Result<OwnedFd> append_record_file(int parent, const std::string& name, const std::string& shown_name) {
  constexpr int flags = O_RDWR | O_APPEND;
  auto found = open_existing(parent, name, flags, S_IFREG, RecordUse::write, shown_name);
  if (found.ok() || found.error().number != ENOENT) return found;
  OwnedFd made(::openat(parent, name.c_str(), flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (made) return made;
  if (errno != EEXIST) return system_error("make " + shown_name);
  return open_existing(parent, name, flags, S_IFREG, RecordUse::write, shown_name);
}

Result<OwnedFd> read_record_file(int parent, const std::string& name, const std::string& shown_name) {
  return open_existing(parent, name, O_RDONLY, S_IFREG, RecordUse::read, shown_name);
}

}  // namespace cloche
