#include "escape/attack.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace cloche::escape {

Report planted(const std::string& what) { return {Ending::planted, what}; }
Report escaped(const std::string& how) { return {Ending::escaped, how}; }
Report held(const std::string& why) { return {Ending::held, why}; }
Report unable(const std::string& why) { return {Ending::unable, why}; }

Report held_by_errno(const std::string& doing, int error) { return held(doing + ": " + error_name(error)); }
Report unable_by_errno(const std::string& doing, int error) {
  return unable(doing + ": " + error_name(error));
}

std::string error_name(int error) {
  const char* name = strerrorname_np(error);
  return name != nullptr ? name : "error " + std::to_string(error);
}

std::string slurp_descriptor(int fd, size_t limit) {
  std::string text;
  char buffer[4096];
  while (text.size() < limit) {
    const ssize_t got = read(fd, buffer, std::min(sizeof buffer, limit - text.size()));
    if (got <= 0) break;
    text.append(buffer, static_cast<size_t>(got));
  }
  return text;
}

std::string slurp(const std::string& path, size_t limit) {
  // Non-blocking: a FIFO or a terminal in the way must not hang the attack.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return {};
  errno = 0;
  std::string text = slurp_descriptor(fd, limit);
  const int error = errno;
  close(fd);
  errno = error;
  return text;
}

std::string printable(const std::string& text) {
  std::string line = text.substr(0, 48);
  for (char& c : line) {
    if (c < ' ' || c > '~') c = '.';
  }
  return "\"" + line + "\"";
}

std::vector<std::string> list_directory(const std::string& path) {
  std::vector<std::string> names;
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return names;
  while (const dirent* entry = readdir(folder)) {
    const std::string name = static_cast<const char*>(entry->d_name);
    if (name != "." && name != "..") names.push_back(name);
  }
  closedir(folder);
  return names;
}

std::vector<int> visible_processes() {
  std::vector<int> pids;
  for (const std::string& name : list_directory("/proc")) {
    const int pid = static_cast<int>(strtol(name.c_str(), nullptr, 10));
    if (pid > 0) pids.push_back(pid);
  }
  return pids;
}

double seconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

void sleep_ms(int milliseconds) {
  timespec wait = {milliseconds / 1000, (milliseconds % 1000) * 1000000L};
  while (nanosleep(&wait, &wait) != 0 && errno == EINTR) {
  }
}

Report in_child(const std::function<Report()>& attempt) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return unable_by_errno("pipe2");
  const pid_t child = fork();
  if (child < 0) return unable_by_errno("fork");
  if (child == 0) {
    const Report report = attempt();
    if (write(ends[1], report.how.data(), report.how.size()) < 0) _exit(static_cast<int>(Ending::unable));
    _exit(static_cast<int>(report.ending));
  }
  close(ends[1]);
  const std::string how = slurp_descriptor(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return held(std::string("killed by SIG") + sigabbrev_np(WTERMSIG(status)));
  return {static_cast<Ending>(WEXITSTATUS(status)), how};
}

bool in_host_namespace(const char* kind, const std::string& host_link) {
  char link[64] = {};
  const std::string path = std::string("/proc/self/ns/") + kind;
  // Not knowing counts as being there: better an attack not tried than the host's mounts changed.
  if (readlink(path.c_str(), link, sizeof link - 1) <= 0) return true;
  return host_link == link;
}

}  // namespace cloche::escape
