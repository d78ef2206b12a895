// The sandbox of our own: who makes it, who is in it, and who outlives it.
//
// Theory of operation. Three processes, one after the other:
//
//   keeper   what the supervisor executed. Creates `first` in new namespaces; takes the plan when the
//            supervisor has it; clones what only root may clone. Then it waits, outside, for `first` to end
//            or for the supervisor to vanish (its end of the control socket closes), and leaves no cgroup
//            behind in either case: it knew their names before they were made. It says `gone` before it
//            removes them.
//   first    process 1 of the sandbox. Does what needs no plan, the network namespace above all, which takes
//            longer than everything else; waits for the keeper's word, mounts what is new while a keeper of
//            root's clones, builds the view, locks itself in, starts the command and reaps. When the command
//            ends it reports and ends, and the kernel kills whatever is left in its pid namespace. It dies
//            with the keeper (parent death signal), so killing either of them kills everything.
//   command  the program of the plan, under the filter, domain and limits that `first` put on itself.
//
// A jail can be prepared for a call that is still to come (wire::prepared): then `first` builds the still
// part of a view, lets go of the host's mounts where it can, says that it is ready, and waits. The call's
// plan comes whole all the same, and is refused if it does not begin with what is built; `first` says that it
// has accepted it before it does anything. So what is enforced is always the whole plan, and a supervisor
// that heard no such word knows that nothing was started.
//
// The supervisor fills and seals the plan on wire::plan_fd and says so with one message on the control
// socket. The keeper's descriptors are `first`'s too until the keeper takes a copy of the table for itself:
// that is how the trees it cloned get there. Reports go to the supervisor over wire::control_fd, which the
// command never has. Every failed step ends in fail(): nothing is executed with a layer missing. There is no
// heap in here: the plan is a mapping, its tables are static.
#pragma once

#include "jail/core/wire.hpp"

namespace cloche::jail {

[[noreturn]] void keep_sandbox(const wire::Start& start);

}  // namespace cloche::jail
