#include "store/layers/change_clock.hpp"

#include <time.h>

#include <cstdlib>
#include <limits>

#include "store/layers/layer_entry.hpp"

namespace cloche {
namespace {

// Gives the directory the mode that it has, which stamps it.
class Marker {
 public:
  explicit Marker(int directory) : directory_(directory) {}

  Result<int64_t> look() {
    struct stat seen {};
    if (::fstat(directory_, &seen) != 0) return system_error("look at the time of a directory");
    mode_ = seen.st_mode & 07777U;
    return nanoseconds(seen.st_ctim);
  }
  Result<int64_t> stamp() {
    if (!set_mode(directory_, mode_)) return system_error("stamp a directory");
    return look();
  }

 private:
  int directory_;
  unsigned mode_ = 0700;
};

// A coarse clock may pass one tick between two stamps that follow at once, but not several in a row.
Result<bool> is_fine(Marker& marker) {
  constexpr int stamps = 3;
  int64_t last = TRY(marker.look());
  for (int i = 0; i < stamps; ++i) {
    const int64_t next = TRY(marker.stamp());
    if (next <= last) return false;
    last = next;
  }
  return true;
}

Result<int64_t> wait_for_later(Marker& marker, int64_t from) {
  constexpr int tries = 5000;  // a file system with times of whole seconds or two has its next one by then
  for (int i = 0; i < tries; ++i) {
    const int64_t now = TRY(marker.stamp());
    if (now > from) return now;
    const timespec pause{0, 500'000};
    ::clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
  }
  return Error{Cause::system,
               "the file system's clock stands still: what changes during a call cannot be known"};
}

int64_t read_clock(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return nanoseconds(now);
}

}  // namespace

Result<CallStart> mark_start(int directory) {
  CallStart start;
  start.clock_offset_ns = clock_offset_ns();
  Marker marker(directory);
  start.grain = TRY(is_fine(marker)) ? ClockGrain::fine : ClockGrain::coarse;
  start.change_ns = TRY(marker.stamp());
  if (start.grain == ClockGrain::coarse) TRY(wait_for_later(marker, start.change_ns));
  return start;
}

Result<int64_t> mark_end(int directory) {
  Marker marker(directory);
  TRY(marker.look());
  return wait_for_later(marker, TRY(marker.stamp()));
}

bool is_since(const CallStart& start, int64_t changed_ns) {
  return start.grain == ClockGrain::fine ? changed_ns >= start.change_ns : changed_ns > start.change_ns;
}

// The two clocks cannot be read at once. Of several tries the one counts that took the least time.
int64_t clock_offset_ns() {
  int64_t offset = 0;
  int64_t shortest = std::numeric_limits<int64_t>::max();
  for (int i = 0; i < 5; ++i) {
    const int64_t before = read_clock(CLOCK_BOOTTIME);
    const int64_t real = read_clock(CLOCK_REALTIME);
    const int64_t after = read_clock(CLOCK_BOOTTIME);
    if (after - before >= shortest) continue;
    shortest = after - before;
    offset = real - (before + shortest / 2);
  }
  return offset;
}

bool clock_was_set(const CallStart& start, int64_t offset_now_ns) {
  constexpr int64_t of_the_reading = 1'000'000;
  return std::abs(offset_now_ns - start.clock_offset_ns) > of_the_reading;
}

}  // namespace cloche
