// Who of all processes has a certain socket open: what is left of a call whose keeper was killed.
//
// The program that builds a box has the call's control socket until its command is reached, and so has every
// process that it starts for that. The keeper would end them; when it is killed, its runner dies with it, and
// one that the runner had started and that waits for it (`runc init` at its fifo) would wait for ever.
#pragma once

#include <sys/types.h>

namespace cloche {

// Ends each of them but this process itself. `socket` is the inode that fstat says of it.
void end_holders(ino_t socket);

}  // namespace cloche
