// What a command without a box and its warden take away from themselves, each on its own side: steps of the
// process that becomes the command, and the warden's own filter.
#pragma once

#include <sys/resource.h>

#include "jail/core/wire.hpp"

namespace cloche::jail {

// The limit that holds for the command and not for its warden, which has a descriptor for every tree.
inline constexpr uint32_t commands_own_limit = RLIMIT_NOFILE;
// False with errno, here and below.
bool set_commands_limits(const wire::Plan& plan);
// A domain within the warden's, so that no signal of the command reaches the warden, and the warden's still
// reach it. In one domain with it the command could end, or stop, the process that answers, reaps and
// reports.
// Where Landlock knows no scope (its ABI below 6) the warden judges signals instead, and the domain keeps the
// command from tracing alone.
bool leave_wardens_domain(uint32_t landlock_abi);
// The warden's listener in `listener`, or -1 where a program around us listens already, so that what a warden
// would have to carry out is ENOSYS. False when there is no filter.
bool filter_calls_asking(const wire::Plan& plan, int& listener);

// For the process that answers, when the command has started.
void filter_warden();

}  // namespace cloche::jail
