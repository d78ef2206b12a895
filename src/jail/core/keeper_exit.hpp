// The end of a keeper, whatever it kept: how its child ended, what the call has used, and nothing left
// behind.
#pragma once

#include <sys/types.h>

#include "jail/core/wire.hpp"

namespace cloche::jail {

// Waits for the child: `gone`, with its status and what it and its own children have used.
wire::Report reaped(pid_t child);

// Adds the groups' last numbers, removes them, tells the supervisor and ends.
[[noreturn]] void take_leave(const wire::Start& start, wire::Report gone);

}  // namespace cloche::jail
