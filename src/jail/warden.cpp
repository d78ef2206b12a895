#include "jail/warden.hpp"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "jail/asked.hpp"
#include "jail/asker.hpp"
#include "jail/kernel.hpp"
#include "jail/schedule.hpp"
#include "jail/text.hpp"

namespace cloche::jail {
namespace {

constexpr size_t path_room = 4096;  // PATH_MAX, and what the kernel says of a descriptor
constexpr size_t max_held = 64;     // further trees can be written to, but have no modes changed

struct Held {
  int fd[max_held];
  size_t count = 0;
};
Held written;

// A descriptor that is closed with its scope.
class Handle {
 public:
  explicit Handle(int fd) : fd_(fd) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  bool missing() const { return fd_ < 0; }

 private:
  int fd_;
};

struct Path {
  char text[path_room + 1];
  size_t size = 0;
};

// An answer is 0 or an errno. Of what the kernel said only that is passed on which says nothing about us.
int answer_of(int number) {
  const bool plain = number == ENOENT || number == ENOTDIR || number == EACCES || number == ENAMETOOLONG ||
                     number == EROFS || number == EOPNOTSUPP;
  return plain ? number : EPERM;
}

// ---- what the asking process has ----

int read_path(const Asker& asker, uint64_t address, Path& path) {
  const size_t got = read_memory(asker, address, path.text, path_room);
  const void* end = std::memchr(path.text, '\0', got);
  if (end == nullptr) return got == path_room ? ENAMETOOLONG : EPERM;
  path.size = static_cast<size_t>(static_cast<const char*>(end) - path.text);
  return 0;
}

int open_of_asker(const Asker& asker, int descriptor) {
  Text<64> link;
  link.add("/proc/").add(static_cast<uint64_t>(asker.thread));
  if (descriptor == AT_FDCWD) {
    link.add("/cwd");
  } else if (descriptor >= 0) {
    link.add("/fd/").add(static_cast<uint64_t>(descriptor));
  } else {
    return -1;
  }
  return ::open(link.c_str(), O_PATH | O_CLOEXEC);
}

// "/proc/self/fd/7" is a descriptor of whoever says it; libc says it where a kernel lacks fchmodat2.
int descriptor_named_by(const Path& path) {
  for (const char* prefix : {"/proc/self/fd/", "/proc/thread-self/fd/", "/dev/fd/"}) {
    const size_t length = std::strlen(prefix);
    if (std::strncmp(path.text, prefix, length) != 0) continue;
    int number = 0;
    for (const char* at = path.text + length; *at != '\0'; ++at) {
      if (*at < '0' || *at > '9' || number > 100000) return -1;
      number = number * 10 + (*at - '0');
    }
    return path.size > length ? number : -1;
  }
  return -1;
}

// No link of /proc is passed: "self" would be the warden.
int open_where_it_says(int directory, const Path& path, bool follow) {
  open_how how{};
  how.flags = static_cast<uint64_t>(O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
  how.resolve = RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, directory, path.text, &how, sizeof how));
}

// The object as the command reaches it; -1 with errno.
int open_seen(const Asker& asker, const Asked& asked) {
  static Path path;
  if (asked.path == 0) return open_of_asker(asker, asked.descriptor);
  if (const int wrong = read_path(asker, asked.path, path); wrong != 0) {
    errno = wrong;
    return -1;
  }
  if (path.size == 0 && asked.may_be_empty) return open_of_asker(asker, asked.descriptor);
  if (const int named = descriptor_named_by(path); named >= 0 && asked.follow)
    return open_of_asker(asker, named);
  if (path.text[0] == '/') return open_where_it_says(AT_FDCWD, path, asked.follow);
  const Handle directory(open_of_asker(asker, asked.descriptor));
  return directory.missing() ? -1 : open_where_it_says(directory.get(), path, asked.follow);
}

// ---- where the object lies ----

Text<32> link_to(int fd) {
  Text<32> link;
  link.add("/proc/self/fd/").add(static_cast<uint64_t>(fd));
  return link;
}

bool place_of(int fd, Path& path) {
  const ssize_t size = ::readlink(link_to(fd).c_str(), path.text, path_room);
  if (size <= 0 || static_cast<size_t>(size) >= path_room || path.text[0] != '/') return false;
  path.size = static_cast<size_t>(size);
  path.text[path.size] = '\0';
  return true;
}

// The rest of `place` behind `tree`, "" for the tree itself; nothing when it does not lie there.
const char* beneath(const Path& tree, const Path& place) {
  if (place.size < tree.size || std::memcmp(place.text, tree.text, tree.size) != 0) return nullptr;
  const char* rest = place.text + tree.size;
  if (*rest == '\0') return rest;
  return *rest == '/' ? rest + 1 : nullptr;
}

int open_beneath(int tree, const char* rest) {
  if (*rest == '\0') return ::fcntl(tree, F_DUPFD_CLOEXEC, 0);
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, tree, rest, &how, sizeof how));
}

// Opened anew beneath a tree that may be written to; -1 when it lies in none.
int open_written(const Path& place) {
  static Path tree;
  for (size_t i = 0; i < written.count; ++i) {
    if (!place_of(written.fd[i], tree)) continue;
    const char* rest = beneath(tree, place);
    const int fd = rest == nullptr ? -1 : open_beneath(written.fd[i], rest);
    if (fd >= 0) return fd;
  }
  return -1;
}

bool are_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// ---- the change ----

int change_mode(int object, const struct stat& now, const Path& place, uint32_t mode) {
  static Path again;
  constexpr uint32_t set_id = 06000;
  if ((mode & set_id) != 0) return EPERM;
  if (!S_ISDIR(now.st_mode)) {
    // One name, counted before it is seen that it is this one and still there: a further name outside could
    // otherwise be hidden by removing this one in between.
    if (now.st_nlink != 1 || !place_of(object, again)) return EPERM;
    if (again.size != place.size || std::memcmp(again.text, place.text, place.size) != 0) return EPERM;
  }
  const auto changed = ::syscall(SYS_chmod, link_to(object).c_str(), mode);
  return changed < 0 ? answer_of(errno) : 0;
}

// To what it is already: archivers running as root ask for that.
int change_owner(const struct stat& now, uint32_t uid, uint32_t gid) {
  constexpr uint32_t as_it_is = ~0U;
  const bool same = (uid == as_it_is || uid == now.st_uid) && (gid == as_it_is || gid == now.st_gid);
  return same ? 0 : EPERM;
}

struct TwoTimes {
  timespec of[2];  // read, written
};

// As the calls have them in memory.
bool read_times(const Asker& asker, const Asked& asked, TwoTimes& times) {
  int64_t words[4] = {};
  const size_t size = asked.times == Asked::Times::seconds ? 16 : 32;
  if (read_memory(asker, asked.times_at, reinterpret_cast<char*>(words), size) != size) return false;
  if (asked.times == Asked::Times::seconds) {
    times = {{{words[0], 0}, {words[1], 0}}};
    return true;
  }
  const bool micro = asked.times == Asked::Times::microseconds;
  constexpr int64_t per_second = 1000000;
  if (micro && (words[1] < 0 || words[1] >= per_second || words[3] < 0 || words[3] >= per_second))
    return false;
  times = {{{words[0], words[1] * (micro ? 1000 : 1)}, {words[2], words[3] * (micro ? 1000 : 1)}}};
  return true;
}

int change_times(int object, const TwoTimes* times) {
  const auto changed =
      ::syscall(SYS_utimensat, AT_FDCWD, link_to(object).c_str(), times == nullptr ? nullptr : times->of, 0);
  return changed < 0 ? answer_of(errno) : 0;
}

int carry_out(const Asker& asker, const Asked& asked) {
  static Path place;
  TwoTimes times{};
  const bool timed = asked.change == Asked::Change::times && asked.times != Asked::Times::now;
  if (asked.change == Asked::Change::nothing) return EPERM;
  if (asked.change == Asked::Change::schedule) return set_schedule(asker, asked.schedule);
  if (timed && !read_times(asker, asked, times)) return EPERM;
  const Handle seen(open_seen(asker, asked));
  if (seen.missing()) return answer_of(errno);
  if (!asker.is_waiting() || !place_of(seen.get(), place)) return EPERM;
  const Handle object(open_written(place));
  struct stat of_seen {};
  struct stat of_object {};
  if (object.missing() || ::fstat(seen.get(), &of_seen) != 0 || ::fstat(object.get(), &of_object) != 0 ||
      !are_same(of_seen, of_object))
    return EPERM;
  switch (asked.change) {
    case Asked::Change::mode: return change_mode(object.get(), of_object, place, asked.mode);
    case Asked::Change::owner: return change_owner(of_object, asked.uid, asked.gid);
    case Asked::Change::times: return change_times(object.get(), timed ? &times : nullptr);
    case Asked::Change::schedule:
    case Asked::Change::nothing: break;
  }
  return EPERM;
}

}  // namespace

void hold_written_trees(const wire::Plan& plan) {
  for (const wire::Rule& rule : plan.rules) {
    const bool writes = rule.access == wire::Access::write || rule.access == wire::Access::write_run;
    if (!writes || written.count == max_held) continue;
    const int fd = ::open(rule.path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0) written.fd[written.count++] = fd;
  }
}

void prepare_listener(int listener) {
  constexpr unsigned long set_flags = _IOW('!', 4, uint64_t);  // SECCOMP_IOCTL_NOTIF_SET_FLAGS
  constexpr unsigned long in_turns = 1;                        // SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
  (void)::ioctl(listener, set_flags, in_turns);
}

void answer_one(int listener) {
  // The kernel may know more members than we do, and wants them to be zero.
  union {
    seccomp_notif asked;
    char room[256];
  } in{.room = {}};
  if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &in) != 0) return;  // whoever asked is gone
  union {
    seccomp_notif_resp reply;
    char room[256];
  } out{.room = {}};
  const Asker asker{listener, in.asked.id, static_cast<pid_t>(in.asked.pid)};
  out.reply.id = asker.id;
  out.reply.error = -carry_out(asker, asked_by(in.asked.data));
  ::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &out);
}

}  // namespace cloche::jail
