// The last steps of `first`: its terminal, its signals, and the command itself.
#pragma once

#include "jail/wire.hpp"

namespace cloche::jail {

// A pseudo terminal of the view's own instance. The master goes to the supervisor; the slave is returned.
int make_terminal(const wire::Plan& plan);

// Blocks what `first` waits for, before there is anything to wait for.
void prepare_signals();

// Starts the command, reports how it ended, and ends the sandbox with it. `root` is a descriptor of the
// view's root.
[[noreturn]] void run_command(const wire::Plan& plan, int terminal, int root);

}  // namespace cloche::jail
