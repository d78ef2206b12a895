#include "jail/boxes/warden_object.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "jail/core/kernel.hpp"

namespace cloche::jail {
namespace {

struct Held {
  int fd;
  Reach reach;
};
Held held[wire::max_rules];
size_t held_count = 0;

// ---- what the asking process has ----

int read_path(const WardenPeer& peer, uint64_t address, Path& path) {
  const size_t got = read_memory(peer, address, path.text, path_room);
  const void* end = std::memchr(path.text, '\0', got);
  if (end == nullptr) return got == path_room ? ENAMETOOLONG : EPERM;
  path.size = static_cast<size_t>(static_cast<const char*>(end) - path.text);
  return 0;
}

int open_of_asker(const WardenPeer& peer, int descriptor) {
  Text<64> link;
  link.add("/proc/").add(static_cast<uint64_t>(peer.thread));
  if (descriptor == AT_FDCWD) {
    link.add("/cwd");
  } else if (descriptor >= 0) {
    link.add("/fd/").add(static_cast<uint64_t>(descriptor));
  } else {
    return -1;
  }
  return ::open(link.c_str(), O_PATH | O_CLOEXEC);
}

// "/proc/self/fd/7" is a descriptor of the process that says it; libc says it where a kernel lacks fchmodat2.
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

// ---- where the object lies ----

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

bool are_same(int a, int b) {
  struct stat of_a {};
  struct stat of_b {};
  return ::fstat(a, &of_a) == 0 && ::fstat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
         of_a.st_ino == of_b.st_ino;
}

// By the first tree that it lies in and may be reached by.
int open_beneath_trees(const Path& place, Reach reach) {
  static Path tree;
  for (size_t i = 0; i < held_count; ++i) {
    if (held[i].reach < reach || !place_of(held[i].fd, tree)) continue;
    const char* rest = beneath(tree, place);
    const int fd = rest == nullptr ? -1 : open_beneath(held[i].fd, rest);
    if (fd >= 0) return fd;
  }
  return -1;
}

}  // namespace

bool Path::operator==(const Path& other) const {
  return size == other.size && std::memcmp(text, other.text, size) == 0;
}

Handle::~Handle() {
  if (fd_ >= 0) ::close(fd_);
}

void hold_tree(int fd, wire::Access access) {
  const bool writes = access == wire::Access::write || access == wire::Access::write_run;
  const bool reads = writes || access == wire::Access::read || access == wire::Access::run;
  if (reads && held_count < wire::max_rules) {
    held[held_count++] = {fd, writes ? Reach::written : Reach::read};
  } else {
    ::close(fd);
  }
}

int open_seen(const WardenPeer& peer, const WardenRequest& asked) {
  static Path path;
  if (asked.path == 0) return open_of_asker(peer, asked.descriptor);
  if (const int wrong = read_path(peer, asked.path, path); wrong != 0) {
    errno = wrong;
    return -1;
  }
  if (path.size == 0 && asked.may_be_empty) return open_of_asker(peer, asked.descriptor);
  if (const int named = descriptor_named_by(path); named >= 0 && asked.follow)
    return open_of_asker(peer, named);
  if (path.text[0] == '/') return open_where_it_says(AT_FDCWD, path, asked.follow);
  const Handle directory(open_of_asker(peer, asked.descriptor));
  return directory.missing() ? -1 : open_where_it_says(directory.get(), path, asked.follow);
}

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

int open_in_plan(int seen, const Path& place, Reach reach) {
  const int fd = open_beneath_trees(place, reach);
  if (fd < 0 || are_same(seen, fd)) return fd;
  ::close(fd);
  return -1;
}

int answer_of(int number) {
  const bool plain = number == ENOENT || number == ENOTDIR || number == EACCES || number == ENAMETOOLONG ||
                     number == EROFS || number == EOPNOTSUPP;
  return plain ? number : EPERM;
}

}  // namespace cloche::jail
