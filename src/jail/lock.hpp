// What a process takes away from itself before it executes a command. The order matters and main.cpp keeps
// it: limits, capabilities, no_new_privs, Landlock, seccomp last, because the filter forbids the calls of the
// others.
#pragma once

#include "jail/core/wire.hpp"

namespace cloche::jail {

void drop_bounding_set();  // may come early: it changes nothing for the process itself
// The plan's working directory. Where it was judged, another one behind a link that stands there by now
// refuses.
void enter_directory(const wire::Plan& plan);

void set_limits(const wire::Plan& plan);
// Those that its warden could not live with, by the process that becomes the command. False with errno.
bool set_commands_limits(const wire::Plan& plan);
void drop_capabilities();
// The same where some or all may be missing already and the right to set the locked bits with them: what
// counts is that none is left.
void give_up_capabilities();
void forbid_new_privileges();
// Where the command is to have a warden, the trees of the plan stay held for it (reach.hpp). `terminal` is
// the command's own, or -1: that one file can be opened by its names too, since its number was in no plan.
void restrict_files(const wire::Plan& plan, int terminal);
// For a command without a box, by the process that becomes it: a domain within its warden's, so that no
// signal of it reaches the warden, and the warden's still reach it. In one domain with it the command could
// end, or stop, the process that answers, reaps and reports. False with errno.
bool leave_wardens_domain();
void filter_calls(const wire::Plan& plan);
// For a command without a box, by the process that becomes it: its warden's listener in `listener`, or -1
// where a program around us listens already, so that what a warden would have to carry out is ENOSYS. False
// with errno when there is no filter.
bool filter_calls_asking(const wire::Plan& plan, int& listener);
// For the process that answers, when the command has started.
void filter_warden();

}  // namespace cloche::jail
