// Whether the kernel has let go of the overlays that a command wrote through. That all processes of a call
// are gone and a mount was taken away proves nothing: a process elsewhere may hold a descriptor that was
// passed to it, and write by it. The kernel says IN_UNMOUNT of a watched directory when its file system ends,
// and then no such descriptor is left.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cloche {

// `inotify` watches the root of each overlay. Waits at most so long; the end of the last process comes a
// moment before the end of its mounts.
bool are_released(int inotify, size_t overlays, uint64_t wait_ms);

}  // namespace cloche
