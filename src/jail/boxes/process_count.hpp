// How many processes the kernel counts for a user beyond those that can be seen. In a pid namespace /proc
// shows some of them only, and a limit that is set by what it shows may leave room for none. The kernel tells
// no process its number, so it is found by trying: the least limit with which one more process can be
// started.
#pragma once

#include <cstdint>

namespace cloche::jail {

inline constexpr uint64_t most_counted = 1U << 22;  // the kernel has no numbers for more

// `can_start(limit)`: whether a process can be started with this limit. Once where `seen` are all there are,
// else two times the logarithm of what is missing.
template <typename CanStart>
uint64_t counted_beyond(uint64_t seen, const CanStart& can_start) {
  const auto are_all = [&](uint64_t more) { return can_start(seen + more + 1); };
  if (are_all(0)) return 0;
  uint64_t too_few = 0;
  uint64_t enough = 1;
  for (; !are_all(enough); enough *= 2) {
    if (enough >= most_counted) return 0;  // something else refuses it, a group for one
    too_few = enough;
  }
  while (enough - too_few > 1) {
    const uint64_t middle = too_few + (enough - too_few) / 2;
    (are_all(middle) ? enough : too_few) = middle;
  }
  return enough;
}

}  // namespace cloche::jail
