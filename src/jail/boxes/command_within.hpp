// The command of an inner jail: in a box of another program, or with a warden where there is no box.
#pragma once

#include <sys/types.h>

#include "jail/core/wire.hpp"

namespace cloche::jail {

// For a jail that does not know the size of its terminal: the supervisor sets it, and says so, before the
// command can look.
void wait_for_size();

// As a shell says it; of a jail in a box that is its own exit code.
int exit_code_of(int status);

// For run_command_within(), before the filter.
int open_signals();
// Like run_command(). Also ends when the supervisor says so or the parent is gone, and takes along whatever
// the command has started. `parent` is whose child this process is as long as that one lives.
[[noreturn]] void run_command_within(const wire::Plan& plan, int terminal, int root, int signals,
                                     pid_t parent);

}  // namespace cloche::jail
