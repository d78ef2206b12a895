// System calls under their usual names, each by the call that every architecture has: newer ones have no
// open, poll or dup2.
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstring>

#include "nolibc/call.hpp"

using cloche::nolibc::call;
using cloche::nolibc::checked;
using cloche::nolibc::kernel_mask_bytes;
using cloche::nolibc::raw;
using cloche::nolibc::the_errno;

extern "C" {

int* __errno_location() noexcept { return &the_errno; }

long syscall(long number, ...) noexcept {
  va_list list;
  va_start(list, number);
  long a[6];
  for (long& argument : a) argument = va_arg(list, long);
  va_end(list);
  return checked(raw(number, a[0], a[1], a[2], a[3], a[4], a[5]));
}

int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const int mode = (flags & O_CREAT) != 0 ? va_arg(list, int) : 0;
  va_end(list);
  return static_cast<int>(call(SYS_openat, AT_FDCWD, path, flags, mode));
}
int openat(int dir, const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const int mode = (flags & O_CREAT) != 0 ? va_arg(list, int) : 0;
  va_end(list);
  return static_cast<int>(call(SYS_openat, dir, path, flags, mode));
}
int ioctl(int fd, unsigned long request, ...) noexcept {
  va_list list;
  va_start(list, request);
  const long argument = va_arg(list, long);
  va_end(list);
  return static_cast<int>(call(SYS_ioctl, fd, request, argument));
}
int prctl(int option, ...) noexcept {
  va_list list;
  va_start(list, option);
  long a[4];
  for (long& argument : a) argument = va_arg(list, long);
  va_end(list);
  return static_cast<int>(call(SYS_prctl, option, a[0], a[1], a[2], a[3]));
}
int close(int fd) { return static_cast<int>(call(SYS_close, fd)); }
ssize_t read(int fd, void* to, size_t size) { return call(SYS_read, fd, to, size); }
ssize_t pread(int fd, void* to, size_t size, off_t offset) { return call(SYS_pread64, fd, to, size, offset); }
ssize_t write(int fd, const void* from, size_t size) { return call(SYS_write, fd, from, size); }
int fstat(int fd, struct stat* seen) noexcept { return static_cast<int>(call(SYS_fstat, fd, seen)); }
int mkdirat(int dir, const char* path, mode_t mode) noexcept {
  return static_cast<int>(call(SYS_mkdirat, dir, path, mode));
}
int mknodat(int dir, const char* path, mode_t mode, dev_t device) noexcept {
  return static_cast<int>(call(SYS_mknodat, dir, path, mode, device));
}
int symlinkat(const char* says, int dir, const char* path) noexcept {
  return static_cast<int>(call(SYS_symlinkat, says, dir, path));
}
int fchmod(int fd, mode_t mode) noexcept { return static_cast<int>(call(SYS_fchmod, fd, mode)); }
off_t lseek(int fd, off_t offset, int whence) noexcept { return call(SYS_lseek, fd, offset, whence); }
int rmdir(const char* path) noexcept {
  return static_cast<int>(call(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
}
int chdir(const char* path) noexcept { return static_cast<int>(call(SYS_chdir, path)); }
int fchdir(int fd) noexcept { return static_cast<int>(call(SYS_fchdir, fd)); }
mode_t umask(mode_t mask) noexcept { return static_cast<mode_t>(call(SYS_umask, mask)); }
int umount2(const char* path, int flags) noexcept { return static_cast<int>(call(SYS_umount2, path, flags)); }
int dup2(int from, int to) noexcept {
  if (from != to) return static_cast<int>(call(SYS_dup3, from, to, 0));
  return call(SYS_fcntl, from, F_GETFD, 0) < 0 ? -1 : to;  // dup3 refuses it
}
int pipe2(int* ends, int flags) noexcept { return static_cast<int>(call(SYS_pipe2, ends, flags)); }
int poll(pollfd* events, nfds_t count, int timeout_ms) {
  timespec rest{timeout_ms / 1000, timeout_ms % 1000 * 1'000'000L};
  return static_cast<int>(
      call(SYS_ppoll, events, count, timeout_ms < 0 ? nullptr : &rest, nullptr, kernel_mask_bytes));
}
int socket(int family, int type, int protocol) noexcept {
  return static_cast<int>(call(SYS_socket, family, type, protocol));
}
ssize_t send(int fd, const void* bytes, size_t size, int flags) {
  return call(SYS_sendto, fd, bytes, size, flags, nullptr, 0);
}
ssize_t recv(int fd, void* bytes, size_t size, int flags) {
  return call(SYS_recvfrom, fd, bytes, size, flags, nullptr, nullptr);
}
ssize_t sendmsg(int fd, const msghdr* message, int flags) { return call(SYS_sendmsg, fd, message, flags); }
void* mmap(void* at, size_t size, int protection, int flags, int fd, off_t offset) noexcept {
  return reinterpret_cast<void*>(call(SYS_mmap, at, size, protection, flags, fd, offset));  // NOLINT
}
int munmap(void* at, size_t size) noexcept { return static_cast<int>(call(SYS_munmap, at, size)); }
pid_t setsid() noexcept { return static_cast<pid_t>(call(SYS_setsid)); }
int setgroups(size_t count, const gid_t* groups) noexcept {
  return static_cast<int>(call(SYS_setgroups, count, groups));
}
int setresuid(uid_t a, uid_t b, uid_t c) noexcept { return static_cast<int>(call(SYS_setresuid, a, b, c)); }
int setresgid(gid_t a, gid_t b, gid_t c) noexcept { return static_cast<int>(call(SYS_setresgid, a, b, c)); }
int sethostname(const char* name, size_t size) noexcept {
  return static_cast<int>(call(SYS_sethostname, name, size));
}
int getrlimit(__rlimit_resource_t resource, rlimit* now) noexcept {
  return static_cast<int>(call(SYS_prlimit64, 0, static_cast<int>(resource), nullptr, now));
}
int setrlimit(__rlimit_resource_t resource, const rlimit* wanted) noexcept {
  return static_cast<int>(call(SYS_prlimit64, 0, static_cast<int>(resource), wanted, nullptr));
}

// ---- files by name ----

int access(const char* path, int mode) noexcept {
  return static_cast<int>(call(SYS_faccessat, AT_FDCWD, path, mode));
}
ssize_t readlink(const char* path, char* to, size_t size) noexcept {
  return call(SYS_readlinkat, AT_FDCWD, path, to, size);
}

// ---- descriptors ----

int fcntl(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  const long argument = va_arg(list, long);
  va_end(list);
  return static_cast<int>(call(SYS_fcntl, fd, command, argument));
}
ssize_t recvmsg(int fd, msghdr* message, int flags) { return call(SYS_recvmsg, fd, message, flags); }
int shutdown(int fd, int how) noexcept { return static_cast<int>(call(SYS_shutdown, fd, how)); }
ssize_t getrandom(void* to, size_t size, unsigned flags) { return call(SYS_getrandom, to, size, flags); }

// ---- who and when ----

uid_t geteuid() noexcept { return static_cast<uid_t>(raw(SYS_geteuid)); }
gid_t getegid() noexcept { return static_cast<gid_t>(raw(SYS_getegid)); }
int clock_gettime(clockid_t clock, timespec* now) noexcept {
  return static_cast<int>(call(SYS_clock_gettime, clock, now));
}
int usleep(useconds_t microseconds) {
  const timespec wanted{microseconds / 1'000'000, static_cast<long>(microseconds % 1'000'000) * 1000};
  return static_cast<int>(call(SYS_nanosleep, &wanted, nullptr));
}

}  // extern "C"
