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
#include "base/text/pieces.hpp"
#include "base/text/visible_text.hpp"
#include "doors/cli/print.hpp"

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
  for (std::string_view rest = path; !rest.empty();) {
    const std::string directory(take_until(rest, ":"));
    if (directory.starts_with('/')) places.push_back(directory + "/" + program);
  }
  return places;
}

std::optional<std::vector<std::string>> usable(const std::string& command,
                                               const std::vector<std::string>& environment,
                                               const std::vector<std::string>& writable,
                                               const FindProgram& find) {
  const auto is_writable = [&](const std::string& path) { return is_beneath_any(writable, path); };
  SplitWords split = split_words(command);
  if (!split.problem.empty() || !split.operators.empty() || split.words.empty()) return std::nullopt;
  for (const std::string& place : places_of(split.words[0], environment)) {
    const auto found = is_writable(place) ? std::nullopt : find(place);
    if (!found || is_writable(found->path)) continue;
    if (std::ranges::any_of(found->turns, is_writable)) continue;
    split.words[0] = found->path;
    return split.words;
  }
  return std::nullopt;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Pager choose_pager(const std::vector<std::string>& environment, const std::vector<std::string>& writable,
                   const FindProgram& find) {
  Pager pager{.environment = pager_environment(environment)};
  if (value_of(environment, "TERM").value_or("dumb") == "dumb") return pager;
  for (const std::string name : {"CLOCHE_PAGER", "PAGER"}) {
    const auto command = value_of(environment, name);
    if (!command) continue;
    if (command->empty() || *command == "cat") return pager;
    pager.argv = usable(*command, environment, writable, find).value_or(pager.argv);
    if (!pager.argv.empty()) return pager;
    pager.note += (pager.note.empty() ? "" : "; ") + name + " is not used: " + shown(*command) +
                  " is no program outside what calls can write, or needs a shell";
  }
  pager.argv = usable("less", environment, writable, find).value_or(pager.argv);
  return pager;
}

std::optional<FoundProgram> find_program(const std::string& path) {
  auto walked = sys::walk(path);
  if (!walked) return std::nullopt;
  struct stat status = {};
  if (::fstat(walked.value().fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (::access(walked.value().path.c_str(), X_OK) != 0) return std::nullopt;
  return FoundProgram{walked.value().path, walked.value().turns};
}

// The child begins with the root as its directory, because a pager may read files of its own from the current
// one, and with its signals as usual. While it runs, the keys that interrupt are the pager's.
Result<void> run_pager(const Pager& pager, std::string_view text) {
  const OwnedFd input = TRY(sys::memory_file());
  TRY(sys::write_all(input.get(), text));
  if (::lseek(input.get(), 0, SEEK_SET) != 0) return system_error("rewind the text for the pager");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_addchdir_np(&actions, "/");
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t usual;
  ::sigemptyset(&usual);
  for (const int signal : {SIGINT, SIGQUIT, SIGPIPE}) ::sigaddset(&usual, signal);
  ::posix_spawnattr_setsigdefault(&attributes, &usual);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  // Ignored for good: behind the pager there is nothing left to interrupt.
  for (const int signal : {SIGINT, SIGQUIT}) ::signal(signal, SIG_IGN);
  Pager started = pager;
  pid_t child = -1;
  const int failed = ::posix_spawn(&child, started.argv[0].c_str(), &actions, &attributes,
                                   pointers_to(started.argv).data(), pointers_to(started.environment).data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return system_error("start the pager " + shown(started.argv[0]), failed);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return system_error("wait for the pager");
  return {};
}

int page(const std::string& text, const std::vector<std::string>& writable) {
  if (::isatty(1) != 1 || ::isatty(0) != 1) return print_all(text, 0);
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  const Pager pager = choose_pager(environment, writable, find_program);
  if (!pager.note.empty()) complain(pager.note);
  if (pager.argv.empty()) return print_all(text, 0);
  const auto paged = run_pager(pager, text);
  if (paged.ok()) return 0;
  complain(describe(paged.error()));
  return print_all(text, 0);
}

}  // namespace cloche
