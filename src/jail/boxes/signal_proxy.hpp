// Whom a signal of the command reaches, judged by its warden (warden.hpp) where Landlock has no scope that
// would (its ABI below 6).
//
// Everything that the command has started, directly or not, is a descendant of the warden, which is their
// subreaper; nothing else may be reached, the warden itself neither. A number is held by a pidfd first, then
// its parents are looked up as far as the warden, twice: a parent that ends in between gives its children
// away, so what is the same both times was a chain of living processes all the while. The signal is sent by
// the pidfd, never by a number.
//
// One thing the kernel is let go on with: a signal of a process to itself, whose number cannot be given to
// another while it waits for the answer, and one to its own group that names none (0), whose members are of
// the session that the command began. A group that is named, its own too, could be left by another thread in
// the meantime and its number be taken by others: so its members are looked up, and the asking process itself
// is signalled after it was answered.
#pragma once

#include "jail/boxes/inotify_proxy.hpp"
#include "jail/boxes/warden_peer.hpp"
#include "jail/boxes/warden_request.hpp"

namespace cloche::jail {

Answer judge_signal(const WardenPeer& peer, const WardenRequest::Signal& asked);

// What the answer still owes the one who asked.
void signal_asking(const Answer& given);

}  // namespace cloche::jail
