// The end of a keeper, whatever it kept: how its child ended, what the call has used, and nothing left
// behind.
#pragma once

#include <sys/types.h>

#include "jail/core/overlay.hpp"
#include "jail/core/wire.hpp"

namespace cloche::jail {

// Waits for the child: `gone`, with its status and what it and its own children have used.
wire::Report reaped(pid_t child);

// Adds the groups' last numbers and what the kernel has let go of, tells the supervisor, removes the groups,
// and ends; before that it says `released` where the kernel still needed a moment.
[[noreturn]] void take_leave(const wire::Start& start, wire::Report gone, const OverlayWatch& watch);

}  // namespace cloche::jail
