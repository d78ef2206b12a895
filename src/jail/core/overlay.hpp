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

// Whether the kernel has let go of the overlays that a command wrote through. That all processes of a call
// are gone and a mount was taken away proves nothing: a process elsewhere may hold a descriptor that was
// passed to it, and write by it. The kernel says IN_UNMOUNT of a watched directory when its file system ends,
// and then no such descriptor is left.
struct OverlayWatch {
  int inotify = -1;       // watches the root of each
  uint32_t overlays = 0;  // of the plan; without one there is no watch
};
OverlayWatch open_watch(const wire::Plan& plan);
// Since the last time; does not wait.
uint32_t count_released(const OverlayWatch& watch);

// Whether this kernel takes a clone for a layer that is mounted nowhere (Linux 6.15).
bool takes_detached_layers();

// Mounts every overlay of the plan, detached, into `trees`, and has each watched. `first`: the mounts of the
// process that gets them, if they are not ours; they are made there where the kernel takes no other layers.
void mount_overlays(const wire::Plan& plan, Trees& trees, const FirstsMounts& first);

}  // namespace cloche::jail
