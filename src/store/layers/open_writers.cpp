#include "store/layers/open_writers.hpp"

#include <fcntl.h>
#include <signal.h>

#include <cerrno>
#include <string>

#include "base/sys/sys.hpp"

namespace cloche {

LeaseAnswer ask_lease(int fd) {
  // A process that opens the file meanwhile has the kernel signal us: by default with SIGIO, which kills.
  // SIGURG is ignored unless a process asks for it, so no handler has to be set for the whole of ours.
  if (::fcntl(fd, F_SETSIG, SIGURG) != 0) return LeaseAnswer::unknown;
  if (::fcntl(fd, F_SETLEASE, F_RDLCK) == 0) {
    ::fcntl(fd, F_SETLEASE, F_UNLCK);
    return LeaseAnswer::granted;
  }
  return errno == EAGAIN ? LeaseAnswer::open_for_writing : LeaseAnswer::unknown;
}

bool grants_leases(int directory) {
  auto writer = sys::open_at(directory, ".", O_TMPFILE | O_WRONLY, 0600);
  if (!writer) return true;  // not known: a refusal counts
  const auto reader = sys::open("/proc/self/fd/" + std::to_string(writer.value().get()), O_RDONLY);
  writer.value().reset();  // it is open for writing as long as this is
  return reader.ok() && ask_lease(reader.value().get()) == LeaseAnswer::granted;
}

}  // namespace cloche
