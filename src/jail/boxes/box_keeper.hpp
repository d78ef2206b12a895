// The keeper of a box that another program builds: bubblewrap, an OCI runtime, or a plain process.
//
// Theory of operation. Two processes of ours, and whatever the box is made of:
//
//   keeper   what the supervisor executed, as for a sandbox of our own (core/keeper.hpp). It is a subreaper:
//            whatever the box starts and lets go of becomes its child, and when the box ends or the
//            supervisor vanishes it ends every one of them before it says `gone`.
//   runner   joins the cgroups, stages the sources, takes the ids of the call and becomes the box's
//            program. It dies with the keeper. Where there is no box (unboxed) it goes on as the inner jail
//            itself: a second exec of the same program would take as long as everything it does.
//
// Staging: in a mount namespace of the runner's own a fresh tmpfs lies on /tmp, and in it a clone of each
// tree of the plan, checked to be what was judged, with its flags and, under root, idmapped; and the files
// that the box wants to find. So a runtime resolves no path of the operator's again, needs no right to pass
// through it, and leaves nothing on any disk: with its last process the namespace is gone.
//
// In the box `cloche-jail --inner` has the control socket and speaks for the command. Where no descriptor can
// be passed into a box (speechless), it leaves its reports in /tmp/report of the stage, and the keeper passes
// them on at the end. The command can reach that file as well (/proc/1/fd, if nothing else), so a number that
// only the keeper and the inner jail know is in it at first: the jail takes it away before there is a
// command, by which the keeper sees that there is about to be one, and seals with it that something failed.
// How the command ended is believed as far as the runtime says the same.
#pragma once

#include "jail/core/wire.hpp"

namespace cloche::jail {

[[noreturn]] void keep_box(const wire::Start& start);

}  // namespace cloche::jail
