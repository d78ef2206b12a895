#include "jail/boxes/scheduling_proxy.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "jail/core/text.hpp"

namespace cloche::jail {
namespace {

constexpr uint32_t first_attributes_size = 48;  // of the kernel that had them first; 0 means it too

bool is_thread_of(const WardenPeer& peer, int thread) {
  if (thread <= 0) return false;
  Text<64> place;
  place.add("/proc/").add(static_cast<uint64_t>(peer.thread));
  place.add("/task/").add(static_cast<uint64_t>(thread));
  const int fd = ::open(place.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return false;
  ::close(fd);
  return peer.is_waiting();
}

struct Words {
  alignas(8) char bytes[WardenRequest::Schedule::most_bytes] = {};
};

// What the call points to. Attributes begin with their own size, which is read once.
bool read_words(const WardenPeer& peer, const WardenRequest::Schedule& asked, Words& words) {
  uint32_t size = asked.size;
  if (asked.number == SYS_sched_setattr) {
    if (read_memory(peer, asked.at, words.bytes, sizeof size) != sizeof size) return false;
    std::memcpy(&size, words.bytes, sizeof size);
    if (size == 0) size = first_attributes_size;
    if (size < first_attributes_size || size > sizeof words.bytes) return false;
  }
  if (read_memory(peer, asked.at, words.bytes, size) != size) return false;
  if (asked.number == SYS_sched_setattr) std::memcpy(words.bytes, &size, sizeof size);
  return true;
}

long carry_out(const WardenRequest::Schedule& asked, const Words& words) {
  switch (asked.number) {
    case SYS_sched_setaffinity: return ::syscall(asked.number, asked.thread, asked.size, words.bytes);
    case SYS_sched_setscheduler: return ::syscall(asked.number, asked.thread, asked.word, words.bytes);
    case SYS_sched_setparam: return ::syscall(asked.number, asked.thread, words.bytes);
    case SYS_sched_setattr: return ::syscall(asked.number, asked.thread, words.bytes, 0);
    case SYS_setpriority:
    case SYS_ioprio_set: return ::syscall(asked.number, asked.of, asked.thread, asked.word);
    default: errno = EPERM; return -1;
  }
}

}  // namespace

int set_schedule(const WardenPeer& peer, const WardenRequest::Schedule& asked) {
  Words words;
  if (asked.at != 0 && !read_words(peer, asked, words)) return EPERM;
  if (!is_thread_of(peer, asked.thread)) return EPERM;
  if (carry_out(asked, words) >= 0) return 0;
  return errno == EINVAL || errno == EACCES ? errno : EPERM;
}

}  // namespace cloche::jail
