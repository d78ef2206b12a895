#include "jail/boxes/warden_peer.hpp"

#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace cloche::jail {

bool WardenPeer::is_waiting() const { return ::ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0; }

size_t read_memory(const WardenPeer& peer, uint64_t address, char* to, size_t size) {
  constexpr uint64_t page = 4096;
  const uint64_t first = page - address % page < size ? page - address % page : size;
  const iovec local{to, size};
  const iovec remote[2] = {{reinterpret_cast<void*>(address), first},  // NOLINT: not an address of ours
                           {reinterpret_cast<void*>(address + first), size - first}};  // NOLINT
  constexpr unsigned long flags = 0;  // a whole register wide: it is passed on the stack
  const auto got =
      ::syscall(SYS_process_vm_readv, peer.thread, &local, 1UL, remote, size > first ? 2UL : 1UL, flags);
  return got < 0 ? 0 : static_cast<size_t>(got);
}

}  // namespace cloche::jail
