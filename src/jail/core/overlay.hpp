// Trees whose writes go to a layer of the call's own: an overlay with the project below and the call's upper
// directory above. The project is not touched while the command runs; what it wrote is read from the upper
// directory afterwards.
//
// Run as root the layers are idmapped clones, so that files get the owner of the project on disk, and the
// overlay is made outside: a user namespace may not clone such layers. An ordinary user makes it in the new
// user namespace, with attributes that need no capability (userxattr).
#pragma once

#include "jail/core/view.hpp"
#include "jail/core/wire.hpp"

namespace cloche::jail {

// Mounts every overlay of the plan, detached, into `trees`, and sends the supervisor a descriptor by which it
// learns that the kernel has let go of each: until then a process that kept a descriptor could still write
// there. `first`: the process that gets them, in whose mount namespace they are made, if that is not ours.
void mount_overlays(const wire::Plan& plan, Trees& trees, const FirstsMounts& first);

}  // namespace cloche::jail
