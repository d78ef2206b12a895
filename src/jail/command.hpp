// The last steps of `first`: its terminal, its signals, and the command itself.
#pragma once

#include <signal.h>

#include "jail/core/wire.hpp"

namespace cloche::jail {

// A pseudo terminal from this device, of the size that the plan says. The master goes to the supervisor; the
// slave is returned.
int make_terminal(const wire::Plan& plan, const char* device);
// For a jail that does not know the size: the supervisor sets it, and says so, before the command can look.
void wait_for_size();

// Blocks what `first` waits for, before there is anything to wait for.
void prepare_signals();

// Starts the command, reports how it ended, and ends the sandbox with it. `root` is a descriptor of the
// view's root.
[[noreturn]] void run_command(const wire::Plan& plan, int terminal, int root);

// What the kernel sends an inner jail when its parent has died.
inline constexpr int parent_died = SIGPWR;
// As a shell says it; of a jail in a box that is its own exit code.
int exit_code_of(int status);
// For run_command_within(), before the filter.
int open_signals();
// The same in a box of another program: also ends when the supervisor says so or the parent is gone, and
// takes along whatever the command has started. `parent` is whose child this process is as long as that one
// lives.
[[noreturn]] void run_command_within(const wire::Plan& plan, int terminal, int root, int signals,
                                     pid_t parent);

}  // namespace cloche::jail
