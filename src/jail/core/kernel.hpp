// System calls that libc has no wrapper for, and constants newer than Debian 12's headers. Each returns -1
// and sets errno, like any other.
#pragma once

#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace cloche::kernel {

inline int open_tree(int dir, const char* path, unsigned flags) {
  return static_cast<int>(::syscall(SYS_open_tree, dir, path, flags));
}
// A directory below `dir`, no link followed on the way and none at the end.
inline int open_beneath(int dir, const char* path) {
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, dir, path, &how, sizeof how));
}
inline int move_mount(int from, int to_dir, const char* to) {
  return static_cast<int>(::syscall(SYS_move_mount, from, "", to_dir, to, MOVE_MOUNT_F_EMPTY_PATH));
}
inline int mount_setattr(int fd, unsigned flags, mount_attr* attributes) {
  return static_cast<int>(
      ::syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH | flags, attributes, sizeof *attributes));
}
inline int fsopen(const char* type) { return static_cast<int>(::syscall(SYS_fsopen, type, FSOPEN_CLOEXEC)); }
inline int fsconfig_set(int fs, const char* key, const char* value) {
  return static_cast<int>(::syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, key, value, 0));
}
inline int fsconfig_flag(int fs, const char* key) {
  return static_cast<int>(::syscall(SYS_fsconfig, fs, FSCONFIG_SET_FLAG, key, nullptr, 0));
}
inline int fsconfig_create(int fs) {
  return static_cast<int>(::syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0));
}
inline int fsmount(int fs, unsigned attributes) {
  return static_cast<int>(::syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, attributes));
}
inline int inotify() { return static_cast<int>(::syscall(SYS_inotify_init1, O_CLOEXEC | O_NONBLOCK)); }
inline int inotify_watch(int inotify, const char* path, unsigned events) {
  return static_cast<int>(::syscall(SYS_inotify_add_watch, inotify, path, events));
}
inline int enter_mounts(int of) { return static_cast<int>(::syscall(SYS_setns, of, CLONE_NEWNS)); }
inline int pivot_root(const char* new_root, const char* put_old) {
  return static_cast<int>(::syscall(SYS_pivot_root, new_root, put_old));
}
// A container's filter cannot see the flags of clone3 and refuses it as unknown, Docker's for one; the older
// call knows all of them but the cgroup.
inline pid_t clone3(clone_args* arguments) {
  const auto made = ::syscall(SYS_clone3, arguments, sizeof *arguments);
  const bool fits = (arguments->flags & CLONE_INTO_CGROUP) == 0 && arguments->stack == 0;
  if (made >= 0 || errno != ENOSYS || !fits) return static_cast<pid_t>(made);
  return static_cast<pid_t>(::syscall(SYS_clone, arguments->flags | arguments->exit_signal, nullptr,
                                      reinterpret_cast<int*>(arguments->pidfd), nullptr, nullptr));
}
inline pid_t getppid() { return static_cast<pid_t>(::syscall(SYS_getppid)); }
inline pid_t getpid() { return static_cast<pid_t>(::syscall(SYS_getpid)); }
inline int pidfd_open(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }
inline int pidfd_send_signal(int pidfd, int signal) {
  return static_cast<int>(::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0));
}
// Of any thread, not of a process alone (Linux 6.9).
inline int pidfd_of_thread(pid_t thread) {
  constexpr unsigned of_thread = O_EXCL;  // PIDFD_THREAD
  return static_cast<int>(::syscall(SYS_pidfd_open, thread, of_thread));
}
inline int pidfd_getfd(int pidfd, int descriptor) {
  return static_cast<int>(::syscall(SYS_pidfd_getfd, pidfd, descriptor, 0));
}
inline int join_session_keyring() {
  constexpr int join = 1;  // KEYCTL_JOIN_SESSION_KEYRING
  return static_cast<int>(::syscall(SYS_keyctl, join, nullptr));
}
// gVisor has no such call; a box of its gives few descriptors and low ones.
inline void close_range(unsigned first, unsigned last) {
  if (first > last || ::syscall(SYS_close_range, first, last, 0) == 0) return;
  for (unsigned fd = first; fd <= last && fd < 4096; ++fd) ::close(static_cast<int>(fd));
}
// Ends the sharing of a table of descriptors. Not by unshare, which a container's filter refuses to
// every process.
inline int own_descriptors() {
  constexpr unsigned unshare = 2;  // CLOSE_RANGE_UNSHARE
  return static_cast<int>(::syscall(SYS_close_range, ~0U, ~0U, unshare));
}
inline int close_on_exec(unsigned first, unsigned last) {
  constexpr unsigned on_exec = 4;  // CLOSE_RANGE_CLOEXEC
  return static_cast<int>(::syscall(SYS_close_range, first, last, on_exec));
}

// The same that close_range() closes, in a table of its own from here on; the shared one keeps it.
inline int leave_descriptors(unsigned first) {
  constexpr unsigned unshare = 2;  // CLOSE_RANGE_UNSHARE
  return static_cast<int>(::syscall(SYS_close_range, first, ~0U, unshare));
}
// SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
inline constexpr unsigned seccomp_wait_killable_once_received = 1U << 5;

// struct landlock_ruleset_attr up to ABI 6; older kernels take a shorter prefix of it.
struct RulesetAttributes {
  uint64_t files;
  uint64_t network;
  uint64_t scope;
};
namespace landlock {
inline constexpr uint64_t truncate = 1ULL << 14, ioctl_device = 1ULL << 15;
inline constexpr uint64_t scope_abstract_sockets = 1, scope_signals = 2;
}  // namespace landlock

inline int landlock_abi() {
  return static_cast<int>(
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION));
}
inline int landlock_create_ruleset(const RulesetAttributes* attributes, size_t size) {
  return static_cast<int>(::syscall(SYS_landlock_create_ruleset, attributes, size, 0));
}
inline int landlock_add_path(int ruleset, const landlock_path_beneath_attr* rule) {
  return static_cast<int>(::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, rule, 0));
}
inline int landlock_restrict_self(int ruleset) {
  return static_cast<int>(::syscall(SYS_landlock_restrict_self, ruleset, 0));
}

}  // namespace cloche::kernel
