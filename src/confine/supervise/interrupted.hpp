// A call that did not end by itself nor by a limit: a process outside ended it, or our own machinery broke.
// That does not say what the host can do, and it may be tried again.
#pragma once

#include "base/result.hpp"
#include "jail/core/wire.hpp"
#include "model/outcome.hpp"

namespace cloche {

// Of whatever was killed before there was an outcome: "WHAT was ended from outside ...".
Error interrupted_error(Message what);

// A step of the jail's for whose failure the kernel gave no reason: the process that was to take it was
// killed. Of a box that another program builds no reason is known either way.
bool was_interrupted(const wire::Report& failed);
bool was_interrupted(const Outcome& outcome);

}  // namespace cloche
