// The scratch place of a command without a box: a directory in STATE/scratch, locked as long as the call
// lives, in which its home and its /tmp are.
//
// What the call has written there goes with it. Where it has written nothing the two empty directories stay,
// for the next call to take: on a file system that tells its disk of every free block (ext4 with discard and
// without a journal) each removal of a directory waits for the disk, some 0.1 ms at best and milliseconds
// when it is busy.
#pragma once

#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace cloche {

struct CallScratch {
  std::string path = {};
  OwnedFd lock = {};

  // One that nobody holds and nothing was left in, or a fresh one. What a call left that was killed with
  // everybody who could clean up is removed.
  static Result<CallScratch> take(const std::string& parent);

  // After its last process. `held`: the command could change nothing of it but by ways that show (modes and
  // names); otherwise it is removed whatever it looks like.
  enum class Command { held, free };
  void leave(Command command);
};

}  // namespace cloche
