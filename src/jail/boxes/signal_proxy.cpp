#include "jail/boxes/signal_proxy.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "jail/boxes/warden_object.hpp"
#include "jail/core/kernel.hpp"
#include "jail/core/text.hpp"

namespace cloche::jail {
namespace {

constexpr int most_tries = 4;  // of a chain of parents that changes while it is looked up
constexpr size_t most_parents = 256;
constexpr int last_signal = 64;

struct FileText {
  char text[4096] = {};
};

bool read_of_process(pid_t process, const char* file, FileText& to) {
  Text<64> path;
  path.add("/proc/").add(static_cast<uint64_t>(process)).add(file);
  const Handle fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.missing()) return false;
  const ssize_t got = ::read(fd.get(), to.text, sizeof to.text - 1);
  if (got <= 0) return false;
  to.text[got] = '\0';
  return true;
}

pid_t number_at(const char* text) {
  pid_t number = 0;
  while (*text == ' ' || *text == '\t') ++text;
  for (; *text >= '0' && *text <= '9'; ++text) number = number * 10 + (*text - '0');
  return number;
}

// A line of /proc/PID/status; 0: there is none. The process's name stands before it, in which the kernel
// writes a line's end as \n.
pid_t status_number(pid_t process, const char* key) {
  static FileText status;
  if (!read_of_process(process, "/status", status)) return 0;
  const size_t size = std::strlen(key);
  for (const char* line = status.text; line != nullptr; line = std::strchr(line, '\n')) {
    if (*line == '\n') ++line;
    if (std::strncmp(line, key, size) == 0) return number_at(line + size);
  }
  return 0;
}

pid_t parent_of(pid_t process) { return status_number(process, "PPid:"); }
pid_t process_of(const WardenPeer& peer) { return status_number(peer.thread, "Tgid:"); }

// From a process to the warden.
struct Chain {
  pid_t of[most_parents];
  size_t size = 0;
};

bool leads_to(pid_t warden, pid_t process, Chain& chain) {
  chain.size = 0;
  for (pid_t at = process; at > 0 && chain.size < most_parents; at = parent_of(at)) {
    if (at == warden) return chain.size > 0;
    chain.of[chain.size++] = at;
  }
  return false;
}

bool is_still(const Chain& chain, pid_t warden) {
  for (size_t i = 0; i < chain.size; ++i) {
    if (parent_of(chain.of[i]) != (i + 1 < chain.size ? chain.of[i + 1] : warden)) return false;
  }
  return true;
}

// Of a process that a pidfd holds.
bool is_descendant(pid_t process) {
  static Chain chain;
  const pid_t warden = kernel::getpid();
  for (int i = 0; i < most_tries; ++i) {
    if (leads_to(warden, process, chain) && is_still(chain, warden)) return true;
  }
  return false;
}

// A pidfd of a process that the command has started; -1 with errno.
int hold(pid_t process) {
  const int held = kernel::pidfd_open(process);
  if (held < 0 && errno != ESRCH) errno = EPERM;
  if (held < 0 || is_descendant(process)) return held;
  ::close(held);
  errno = EPERM;
  return -1;
}

// 0 or an errno.
int send_by(int held, int number) {
  return ::syscall(SYS_pidfd_send_signal, held, number, nullptr, 0) == 0 ? 0 : errno;
}

int send_to(pid_t process, int number) {
  const Handle held(hold(process));
  return held.missing() ? errno : send_by(held.get(), number);
}

// What a list of a directory is made of.
struct Listed {
  uint64_t inode;
  int64_t next;
  unsigned short size;
  unsigned char type;
};
constexpr size_t name_at = offsetof(Listed, type) + 1;

// To the members that are the command's; ESRCH when there is none. The asking process, if it is one, is left
// for later: a signal would end its wait for the answer, and on older kernels make it ask again.
Answer send_to_group(const WardenPeer& peer, pid_t group, int number) {
  const Handle all(::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (all.missing()) return {.error = EPERM};
  const pid_t asking = process_of(peer);
  Answer answer{.error = ESRCH};
  alignas(Listed) static char room[8192];
  for (long got = 0; (got = ::syscall(SYS_getdents64, all.get(), room, sizeof room)) > 0;) {
    for (long at = 0; at < got;) {
      Listed entry{};
      std::memcpy(&entry, room + at, name_at);
      const pid_t process = number_at(room + at + name_at);
      at += entry.size;
      if (process <= 0 || ::syscall(SYS_getpgid, process) != group) continue;
      int sent = 0;
      if (process == asking && answer.asking < 0) {
        answer.asking = hold(process);
        answer.signal = number;
        if (answer.asking < 0) sent = errno;
      } else {
        sent = send_to(process, number);
      }
      if (sent == 0 || (answer.error == ESRCH && sent != ESRCH)) answer.error = sent;
    }
  }
  return answer;
}

Answer send(const WardenPeer& peer, const WardenRequest::Signal& asked) {
  if (asked.process == -1 || asked.process == INT_MIN) return {.error = EPERM};  // whoever may be reached
  if (asked.number < 0 || asked.number > last_signal) return {.error = EINVAL};
  // A thread of another process has no number that can be held.
  if (asked.thread != 0 && asked.thread != asked.process) return {.error = EPERM};
  return asked.process > 0 ? Answer{.error = send_to(asked.process, asked.number)}
                           : send_to_group(peer, -asked.process, asked.number);
}

// See the theory of operation.
bool is_for_itself(const WardenPeer& peer, const WardenRequest::Signal& asked) {
  if (asked.process == 0) return asked.thread == 0 || asked.thread == peer.thread;
  return asked.process > 0 && asked.process == process_of(peer);
}

}  // namespace

Answer judge_signal(const WardenPeer& peer, const WardenRequest::Signal& asked) {
  if (is_for_itself(peer, asked) && peer.is_waiting()) return {.goes_on = true};
  return send(peer, asked);
}

void signal_asking(const Answer& given) {
  if (given.asking < 0) return;
  send_by(given.asking, given.signal);
  ::close(given.asking);
}

}  // namespace cloche::jail
