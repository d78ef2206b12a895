// What happens to a file, told to a command that asks for it (inotify), by its warden (warden.hpp).
//
// Landlock does not look at it: a process that may read a file by its mode could hear when another opens or
// changes it, wherever it lies. The warden finds the object as it does for any other question, opens it
// beneath a tree that the command may read, takes the command's own inotify descriptor from it, and adds the
// watch to that. Everything else cannot be watched (EACCES), as if its mode forbade it.
#pragma once

#include <cstdint>

#include "jail/boxes/warden_peer.hpp"
#include "jail/boxes/warden_request.hpp"

namespace cloche::jail {

struct Answer {
  int error = 0;  // an errno, or
  int64_t value = 0;
  bool goes_on = false;  // the kernel carries the call out
  int asking = -1;       // a pidfd of the asking process, which is sent the signal after the answer
  int signal = 0;
};

Answer add_watch(const WardenPeer& peer, const WardenRequest& asked);

}  // namespace cloche::jail
