// When a call began, on the clock that stamps the files: what the host changed since then has a time of
// change (ctime) that says so. The clock is asked by a directory of our own on the same file system, because
// a kernel stamps files with a coarser clock than the one that programs read, and a server with its own.
//
// Linux 6.13 and later give a file that was looked at a time of its own the next time it changes, and no
// later change of any file an earlier one: T0 is such a time, and what is as old as T0 came after it. Before
// that, all changes of one tick (1 to 10 ms) have one time: T0 is the tick before the call began, and what
// is as old as T0 came before it.
#pragma once

#include <sys/stat.h>

#include <cstdint>

#include "base/result.hpp"

namespace cloche {

enum class ClockGrain { fine, coarse };

struct CallStart {
  int64_t change_ns = 0;  // T0, since the epoch
  ClockGrain grain = ClockGrain::fine;
  int64_t clock_offset_ns = 0;  // of the clock that can be set, to the one that cannot

  bool operator==(const CallStart&) const = default;
};

// `directory`: ours, on the file system of the tree; it may be held by O_PATH. Only its time of change moves.
// Where times are coarse this waits for the next tick.
Result<CallStart> mark_start(int directory);

// A time that every change on the file system has passed that was made before, and none that is made later.
// Of the same directory, and waiting in the same way.
Result<int64_t> mark_end(int directory);

// Whether a file's time of change is at or after the start.
bool is_since(const CallStart& start, int64_t changed_ns);

// How far CLOCK_REALTIME is from CLOCK_BOOTTIME. It stays the same unless the clock is set: a slow correction
// moves both.
int64_t clock_offset_ns();
// Pure. Where the clock was set, no time says what came first.
bool clock_was_set(const CallStart& start, int64_t offset_now_ns);

}  // namespace cloche
