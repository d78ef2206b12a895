#include "jail/boxes/inotify_proxy.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "jail/boxes/warden_object.hpp"
#include "jail/core/kernel.hpp"

namespace cloche::jail {
namespace {

// Of the thread itself: it may have a table of its own. A kernel that knows no pidfd of a thread (before 6.9)
// knows that of a process by the number of its first thread.
int take_descriptor(const WardenPeer& peer, int descriptor) {
  const int of_thread = kernel::pidfd_of_thread(peer.thread);
  const Handle thread(of_thread < 0 && errno == EINVAL ? kernel::pidfd_open(peer.thread) : of_thread);
  return thread.missing() ? -1 : kernel::pidfd_getfd(thread.get(), descriptor);
}

// Anything else would be asked by a call that it does not know; but that is the kernel's to find.
int answer_of_watch(int number) {
  const bool plain =
      number == EINVAL || number == EEXIST || number == ENOSPC || number == ENOMEM || number == EBADF;
  return plain ? number : answer_of(number);
}

}  // namespace

Answer add_watch(const WardenPeer& peer, const WardenRequest& asked) {
  static Path place;
  const Handle seen(open_seen(peer, asked));
  if (seen.missing()) return {.error = answer_of(errno)};
  const Handle watcher(take_descriptor(peer, asked.watcher));
  if (watcher.missing()) return {.error = errno == EBADF ? EBADF : EACCES};
  if (!peer.is_waiting() || !place_of(seen.get(), place)) return {.error = EACCES};
  const Handle object(open_in_plan(seen.get(), place, Reach::read));
  if (object.missing()) return {.error = EACCES};
  const auto added =
      ::syscall(SYS_inotify_add_watch, watcher.get(), link_to(object.get()).c_str(), asked.events);
  if (added < 0) return {.error = answer_of_watch(errno)};
  return {.value = added};
}

}  // namespace cloche::jail
