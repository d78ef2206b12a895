// The text goes into a memory file that is the pager's standard input: no pipe that could break or fill up,
// so there is one process to wait for and nothing else to do meanwhile.
#include "doors/changes/pager.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/command_words.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

std::optional<std::string> value_of(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment)
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return entry.substr(name.size() + 1);
  return std::nullopt;
}

// LESSOPEN and LESSCLOSE are commands, LESS and LESSKEY can name them, MORE is LESS to a less called more.
std::vector<std::string> pager_environment(const std::vector<std::string>& environment) {
  std::vector<std::string> kept;
  for (const std::string& entry : environment)
    if (!entry.starts_with("LESS") && !entry.starts_with("MORE=")) kept.push_back(entry);
  kept.emplace_back(
      "LESS=FRX");  // ends when it fits on the screen, passes colours, leaves the screen as it is
  kept.emplace_back("LESSSECURE=1");  // starts no shell, editor or preprocessor
  return kept;
}

// Where a program of this name is looked for. A relative directory is the current one's, which may be the
// workspace.
std::vector<std::string> places_of(const std::string& program, const std::vector<std::string>& environment) {
  if (program.starts_with('/')) return {program};
  if (program.find('/') != std::string::npos) return {};
  std::vector<std::string> places;
  const std::string path = value_of(environment, "PATH").value_or("/usr/bin:/bin");
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find(':', at), path.size());
    if (end > at && path[at] == '/') places.push_back(path.substr(at, end - at) + "/" + program);
    at = end + 1;
  }
  return places;
}

bool is_out_of_reach(const FoundProgram& found, const std::vector<std::string>& roots) {
  return !is_beneath_any(roots, found.path) &&
         std::none_of(found.turns.begin(), found.turns.end(),
                      [&](const auto& turn) { return is_beneath_any(roots, turn); });
}

std::optional<Pager> usable(const std::string& command, const PagerRequest& request,
                            const FindProgram& find) {
  const SplitWords split = split_words(command);
  if (!split.problem.empty() || !split.operators.empty() || split.words.empty()) return std::nullopt;
  for (const std::string& place : places_of(split.words[0], request.environment)) {
    if (is_beneath_any(request.writable_roots, place)) continue;
    const auto found = find(place);
    if (!found || !is_out_of_reach(*found, request.writable_roots)) continue;
    Pager pager{split.words, pager_environment(request.environment)};
    pager.argv[0] = found->path;
    return pager;
  }
  return std::nullopt;
}

// While the pager runs, keys that interrupt are the pager's.
class IgnoredSignals {
 public:
  IgnoredSignals() {
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGINT, &ignore, &interrupt_);
    ::sigaction(SIGQUIT, &ignore, &quit_);
  }
  ~IgnoredSignals() {
    ::sigaction(SIGINT, &interrupt_, nullptr);
    ::sigaction(SIGQUIT, &quit_, nullptr);
  }
  IgnoredSignals(const IgnoredSignals&) = delete;
  IgnoredSignals& operator=(const IgnoredSignals&) = delete;

 private:
  struct sigaction interrupt_ = {};
  struct sigaction quit_ = {};
};

// What a child begins with: the text as its input, the root as its directory, because a pager may read files
// of its own from the current one, and its signals as usual.
class SpawnSettings {
 public:
  explicit SpawnSettings(int input) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
    ::posix_spawn_file_actions_addchdir_np(&actions_, "/");
    ::posix_spawnattr_init(&attributes_);
    sigset_t usual;
    ::sigemptyset(&usual);
    for (const int signal : {SIGINT, SIGQUIT, SIGPIPE}) ::sigaddset(&usual, signal);
    ::posix_spawnattr_setsigdefault(&attributes_, &usual);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_ = {};
  posix_spawnattr_t attributes_ = {};
};

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

PagerChoice choose_pager(const PagerRequest& request, const FindProgram& find) {
  PagerChoice choice;
  if (value_of(request.environment, "TERM").value_or("dumb") == "dumb") return choice;
  for (const std::string_view name : {"CLOCHE_PAGER", "PAGER"}) {
    const auto command = value_of(request.environment, name);
    if (!command) continue;
    if (command->empty() || *command == "cat") return choice;
    choice.pager = usable(*command, request, find);
    if (choice.pager) return choice;
    choice.note += std::string(choice.note.empty() ? "" : "; ") + std::string(name) +
                   " is not used: " + shown(*command) +
                   " is no program outside what calls can write, or needs a shell";
  }
  choice.pager = usable("less", request, find);
  return choice;
}

std::optional<FoundProgram> find_program(const std::string& path) {
  auto walked = sys::walk(path);
  if (!walked) return std::nullopt;
  struct stat status = {};
  if (::fstat(walked.value().fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (::access(walked.value().path.c_str(), X_OK) != 0) return std::nullopt;
  return FoundProgram{walked.value().path, walked.value().turns};
}

bool is_terminal(int fd) { return ::isatty(fd) == 1; }

Result<void> run_pager(const Pager& pager, std::string_view text) {
  const OwnedFd input = TRY(sys::memory_file());
  TRY(sys::write_all(input.get(), text));
  if (::lseek(input.get(), 0, SEEK_SET) != 0) return system_error("rewind the text for the pager");
  const IgnoredSignals ignored;
  const SpawnSettings settings(input.get());
  Pager started = pager;
  pid_t child = -1;
  const int failed = ::posix_spawn(&child, started.argv[0].c_str(), settings.actions(), settings.attributes(),
                                   pointers_to(started.argv).data(), pointers_to(started.environment).data());
  if (failed != 0) return system_error("start the pager " + shown(started.argv[0]), failed);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return system_error("wait for the pager");
  return {};
}

}  // namespace cloche
