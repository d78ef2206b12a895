#include "confine/supervise/overlay_end.hpp"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cstring>

#include "base/sys/sys.hpp"

namespace cloche {
namespace {

// Of the events that are there now.
size_t count_unmounts(int inotify) {
  alignas(inotify_event) char buffer[4096];
  size_t unmounts = 0;
  for (ssize_t got = ::read(inotify, buffer, sizeof buffer); got > 0;
       got = ::read(inotify, buffer, sizeof buffer)) {
    for (ssize_t at = 0; at < got;) {
      inotify_event event{};
      std::memcpy(&event, buffer + at, sizeof event);
      if ((event.mask & IN_UNMOUNT) != 0) ++unmounts;
      at += static_cast<ssize_t>(sizeof event + event.len);
    }
  }
  return unmounts;
}

}  // namespace

bool are_released(int inotify, size_t overlays, uint64_t wait_ms) {
  const uint64_t deadline = sys::monotonic_ms() + wait_ms;
  size_t released = 0;
  for (;;) {
    released += count_unmounts(inotify);
    const uint64_t now = sys::monotonic_ms();
    if (released >= overlays) return true;
    if (inotify < 0 || now >= deadline) return false;
    pollfd event{inotify, POLLIN, 0};
    (void)::poll(&event, 1, static_cast<int>(deadline - now));
  }
}

}  // namespace cloche
