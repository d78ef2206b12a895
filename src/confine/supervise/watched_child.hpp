// A program that may crash, hang or say too much, watched by a process that does not: `cloche hook` starts
// the judge and answers for it whatever happens; getent is asked for an account.
//
// Theory of operation. run_watched() starts the program with a pipe for its stdout and sits in one poll loop
// over the pipe, its pidfd and the signals that would end us. It returns when the program has ended and what
// it wrote was read, at the deadline, when it wrote too much, or when a signal came; in the last three the
// program is killed first. No other process's end of the pipe is waited for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace cloche {

struct WatchedEnd {
  enum class How { exited, killed, too_late, too_long, interrupted };
  How how = How::killed;
  int number = 0;  // the exit code, or the signal
  std::string output = {};
};

struct WatchedProgram {
  std::string path = {};
  std::vector<std::string> arguments = {};  // the first is its name
  char* const* environment = nullptr;
  uint64_t deadline_ms = 0;  // on the clock of sys::monotonic_ms()
  size_t most_output = 0;
  // callers: its stdin and stderr are ours, and a signal that would end us ends it instead.
  // none: both are /dev/null, and signals do to us what they did before.
  enum class Ties { callers, none } ties = Ties::none;
};

// An Error when it could not be started.
Result<WatchedEnd> run_watched(const WatchedProgram& program);

}  // namespace cloche
