// What a process takes away from itself before it executes a command. The order matters and main.cpp keeps
// it: limits, capabilities, no_new_privs, Landlock, seccomp last, because the filter forbids the calls of the
// others.
#pragma once

#include "jail/wire.hpp"

namespace cloche::jail {

void drop_bounding_set();  // may come early: it changes nothing for the process itself
void set_limits(const wire::Plan& plan);
void drop_capabilities();
// The same where some or all may be missing already and the right to set the locked bits with them: what
// counts is that none is left.
void give_up_capabilities();
void forbid_new_privileges();
void restrict_files(const wire::Plan& plan);
void filter_calls(const wire::Plan& plan);

}  // namespace cloche::jail
