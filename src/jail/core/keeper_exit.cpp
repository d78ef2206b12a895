#include "jail/core/keeper_exit.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "jail/core/report.hpp"
#include "jail/core/text.hpp"

namespace cloche::jail {
namespace {

// The number after `key`, or the first one when it is empty; 0 when there is none.
uint64_t number_in(const char* text, const char* key) {
  const size_t length = std::strlen(key);
  for (; *text != '\0'; ++text) {
    if (std::strncmp(text, key, length) == 0) break;
  }
  uint64_t value = 0;
  if (*text == '\0') return value;
  for (const char* at = text + length; *at >= '0' && *at <= '9'; ++at)
    value = value * 10 + static_cast<uint64_t>(*at - '0');
  return value;
}

uint64_t read_number(const char* directory, const char* file, const char* key = "") {
  if (std::strlen(directory) > wire::max_path_bytes) return 0;
  Text<wire::max_path_bytes + 64> path;
  const int fd = ::open(path.add(directory).add("/").add(file).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[512];
  const ssize_t got = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  text[got > 0 ? got : 0] = '\0';
  return number_in(text, key);
}

void read_groups(const wire::Start& start, wire::Report& report) {
  if (start.groups.empty()) return;
  const bool two = start.has(wire::born_in_cgroup);
  const char* memory = start.groups.front();
  report.memory_peak_bytes = read_number(memory, two ? "memory.peak" : "memory.max_usage_in_bytes");
  report.memory_kills = read_number(memory, two ? "memory.events" : "memory.oom_control", "oom_kill ");
  report.processes_denied = read_number(start.groups.back(), "pids.events", "max ");
}

void remove_groups(const wire::Start& start) {
  for (const char* group : start.groups) ::rmdir(group);
}

}  // namespace

wire::Report reaped(pid_t child) {
  rusage usage{};
  int status = 0;
  ::wait4(child, &status, 0, &usage);
  const auto cpu_us = static_cast<uint64_t>((usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
                                            usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  return {.kind = wire::ReportKind::gone,
          .status = status,
          .cpu_us = cpu_us,
          .max_rss_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024};
}

namespace {

// The end of the last process comes a moment before the end of its mounts.
bool wait_for_release(const OverlayWatch& watch, uint32_t& released) {
  constexpr int most_wait_ms = 1000;
  constexpr int between_looks_ms = 10;
  pollfd events[2] = {{watch.inotify, POLLIN, 0}, {wire::control_fd, 0, 0}};
  for (int waited_ms = 0; released < watch.overlays && waited_ms < most_wait_ms;) {
    if (::poll(events, 2, between_looks_ms) == 0) waited_ms += between_looks_ms;
    if (events[1].revents != 0) return false;  // no process asks any more
    released += count_released(watch);
  }
  return released >= watch.overlays;
}

}  // namespace

void take_leave(const wire::Start& start, wire::Report gone, const OverlayWatch& watch) {
  read_groups(start, gone);
  gone.overlays = count_released(watch);
  send(gone);
  remove_groups(start);
  const bool knows_all = gone.overlays >= watch.overlays;
  if (!knows_all && wait_for_release(watch, gone.overlays))
    send({.kind = wire::ReportKind::released, .overlays = gone.overlays});
  ::_exit(0);
}

}  // namespace cloche::jail
