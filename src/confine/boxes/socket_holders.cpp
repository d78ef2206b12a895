#include "confine/boxes/socket_holders.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <string>

#include "base/sys/directory.hpp"
#include "base/sys/sys.hpp"

namespace cloche {
namespace {

// Of a process that is not ours to look at: no.
bool is_held_by(const std::string& process, const std::string& socket) {
  const std::string descriptors = "/proc/" + process + "/fd";
  bool found = false;
  for_each_entry(descriptors, [&](std::string_view name, unsigned char) {
    if (found) return;
    const auto said = sys::read_link(descriptors + "/" + std::string(name));
    found = said.ok() && said.value() == socket;
  });
  return found;
}

}  // namespace

void end_holders(ino_t socket) {
  const std::string said = "socket:[" + std::to_string(socket) + "]";
  for (const std::string& name : names_in("/proc")) {
    pid_t pid = 0;
    const auto number = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (number.ec != std::errc{} || number.ptr != name.data() + name.size() || pid == ::getpid()) continue;
    if (!is_held_by(name, said)) continue;
    const auto holder = sys::pidfd_open(pid);
    // Once more, by now that it cannot be another any more.
    if (holder.ok() && is_held_by(name, said))
      (void)::syscall(SYS_pidfd_send_signal, holder.value().get(), SIGKILL, nullptr, 0);
  }
}

}  // namespace cloche
