// When and where a thread runs, set by the warden (warden.hpp) for a command that names one by its number.
//
// The filter lets a command say it of 0, the asking thread. But libc says it by number of every thread, also
// the own one (pthread_setaffinity_np), and a filter cannot know whose number that is. The threads of the
// asking process are its own; everything else, the caller's other processes above all, is refused. A thread
// that ends just after it was looked for could leave its number to another process of the user: that one
// would run as this command wanted its own to, which is all that could come of it.
#pragma once

#include "jail/boxes/warden_peer.hpp"
#include "jail/boxes/warden_request.hpp"

namespace cloche::jail {

// 0 or an errno.
int set_schedule(const WardenPeer& peer, const WardenRequest::Schedule& asked);

}  // namespace cloche::jail
