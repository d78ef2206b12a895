// A session keyring of the command's own. The kernel gives back the room of an ended process's keys a moment
// later, and each ordinary user has little of it (kernel.keys.maxkeys, 200): so where many commands start at
// once, a full quota passes by itself, and is waited for.
#pragma once

#include <cerrno>

#include "jail/core/kernel.hpp"

namespace cloche::jail {

inline constexpr unsigned keyring_pause_us = 20'000;
inline constexpr unsigned keyring_patience_us = 2'000'000;

// 0, or the errno of the last try. `join` is a system call; `pause` takes microseconds.
template <typename Join, typename Pause>
int join_keyring_in_time(const Join& join, const Pause& pause) {
  for (unsigned waited_us = 0;; waited_us += keyring_pause_us) {
    if (join() >= 0) return 0;
    if (errno != EDQUOT || waited_us >= keyring_patience_us) return errno;
    pause(keyring_pause_us);
  }
}

inline int join_keyring() {
  return join_keyring_in_time(kernel::join_session_keyring, [](unsigned time_us) { ::usleep(time_us); });
}

}  // namespace cloche::jail
