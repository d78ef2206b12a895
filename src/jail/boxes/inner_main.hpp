// `cloche-jail --inner`: the last steps alone, for a box that another program built: bubblewrap, an OCI
// runtime, or no box at all (the isolation level `subprocess`). What the box cannot say it says here: limits,
// capabilities, no_new_privs, Landlock, the filter, and that nothing above stdio stays open.
//
//   cloche-jail --inner [--escaped] [--control FD | --report FILE] [--umask 022] [--directory DIR]
//               [--judged-directory DEVICE:INODE] [--limit NAME=VALUE]... --landlock ABI
//               [--allow ACCESS:PATH [--judged DEVICE:INODE]]... [--debugging] [--watched]
//               [--give-away DIRECTORY] [--become UID:GID] [--alone | --open] [--terminal]
//               [--program PATH]... -- ARGV...
//
// Everything is said in words, so that `cloche wrap` can print a line that runs when it is pasted; the
// environment is the box's own. --escaped: both came by a way that carries UTF-8 alone
// (percent_decode.hpp), so that a command has its words byte for byte. --alone: there are no
// namespaces around it, so the filter refuses what they would have kept apart. --open: nothing is to be held,
// by the operator's own switch. --judged, --judged-directory: the file that was judged; another one at that
// path refuses.
// --give-away: what the box could not make read-only belongs to no user of it from the start. --terminal: the
// command gets a pseudo terminal, whose other side goes out by the control socket; its size is set from
// there.
//
// Theory of operation. This process stays, as the command's parent and reaper; it ends with the command, when
// the supervisor says so, or when its own parent dies, and takes everything with it that the command has
// started.
#pragma once

#include "jail/core/wire.hpp"

namespace cloche::jail {

// Whether these are the arguments of an inner jail.
bool is_inner(int argc, char** argv);

[[noreturn]] void run_inner(int argc, char** argv);
// The same in a process that is one of ours already: `words` as above, with the name of the program first.
[[noreturn]] void run_inner(wire::Words words, wire::Words environment);

}  // namespace cloche::jail
