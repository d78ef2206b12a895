// Which system calls a command may make, each group with its reason. Default-deny: a number that is in no
// group is answered ENOSYS, as a kernel that never had it would; a refused one EPERM, so that a person sees
// who said no. A test checks that every call of this kernel generation stands in exactly one group.
#pragma once

#include <array>
#include <cstddef>

#include "jail/core/call_numbers.hpp"

namespace cloche::jail {

enum class Action : unsigned char {
  absent,  // ENOSYS
  allow,
  refuse,  // EPERM
  // Decided by arguments; filter.hpp holds the condition of each.
  clone_flags,
  socket_kind,
  socket_pair,
  stream_pair,
  ioctl_request,
  prctl_option,
  persona,
  seccomp_operation,
  memfd_flags,
  mode_argument_1,
  mode_argument_2,
  new_mode_1,
  new_mode_2,
  mode_of_open,
  mode_of_openat,
  limits_of_others,
  fallocate_mode,
  tracing,       // refused, unless the plan has the debug grant
  kept_memory,   // allowed, unless memory is watched: memory that no process need hold cannot be watched
  kept_segment,  // the same, but small ones: the kernel bounds how many there are
  host_wide,     // allowed, unless there is no namespace of its own that it would stay in
  networked,     // the same of a network; the host's own may be given knowingly
  // Allowed in a mount view. Without one:
  by_warden,       // the warden carries it out or refuses it (warden.hpp)
  attributes,      // answered as by a file system that has none
  of_oneself,      // of 0, which is the asking thread; of a number by the warden
  of_one_oneself,  // the same where the first argument says of what: a process, a group, a user
  signal,          // by the warden too, where Landlock does not know whom a signal reaches
};

struct Group {
  Action action;
  const char* reason;
  std::array<Call, 72> calls;
  size_t count;

  template <typename... Calls>
  constexpr Group(Action decided, const char* why, Calls... which)
      : action(decided), reason(why), calls{which...}, count(sizeof...(which)) {}
};

// A table reads as rows:
// clang-format off
namespace table {
using enum Call;
inline constexpr Group groups[] = {
    {Action::allow, "bytes in and out of descriptors the command already holds", read, write, readv,
     writev, pread64, pwrite64, preadv, pwritev, preadv2, pwritev2, lseek, close,
     close_range, dup, dup2, dup3, pipe, pipe2, fcntl, flock, sendfile,
     copy_file_range, splice, tee, readahead, fadvise64, sync_file_range, fsync,
     fdatasync, sync, syncfs, ftruncate, truncate, cachestat},
    {Action::allow, "names and metadata; the mount view and Landlock decide which", stat, fstat, lstat,
     newfstatat, statx, statfs, fstatfs, access, faccessat, faccessat2, readlink,
     readlinkat, getdents, getdents64, getcwd, chdir, fchdir, rename, renameat,
     renameat2, rmdir, link, linkat, unlink, unlinkat, symlink, symlinkat, umask,
     inotify_init, inotify_init1, inotify_rm_watch},
    {Action::allow, "extended attributes, to be read", getxattr, lgetxattr, fgetxattr, listxattr,
     llistxattr, flistxattr},
    {Action::by_warden, "what Landlock does not look at, so that the mount view or the warden decides whose it is: owners and times, and what is heard of a file",
     chown, fchown, lchown, fchownat, utime, utimes, utimensat, futimesat,
     inotify_add_watch},
    {Action::attributes, "the same: attributes, of which trusted.* and security.* need capabilities that no process here has",
     setxattr, lsetxattr, fsetxattr, removexattr, lremovexattr, fremovexattr},
    {Action::fallocate_mode, "frees space; taking it by promise would outrun every watch of the disk, and is answered as by a file system "
     "that cannot: libc then writes instead", fallocate},
    {Action::mode_of_open, "opens files; no set-id bit at creation, because on disk the owner may be root", open},
    {Action::mode_of_openat, "the same with a directory descriptor", openat},
    {Action::mode_argument_1, "creates; no set-id bits", creat, mkdir, mknod},
    {Action::mode_argument_2, "the same with a directory descriptor", mkdirat, mknodat},
    {Action::new_mode_1, "changes modes; no set-id bits, and by the warden where Landlock alone would have to look", chmod,
     fchmod},
    {Action::new_mode_2, "the same with a directory descriptor", fchmodat, fchmodat2},
    {Action::absent, "openat2 and clone3 take their flags from memory, where a filter cannot see them; every libc "
                     "falls back to openat and clone on ENOSYS", openat2, clone3},
    {Action::allow, "waiting for descriptors and time", poll, ppoll, select, pselect6,
     epoll_create, epoll_create1, epoll_ctl, epoll_wait, epoll_pwait, epoll_pwait2,
     epoll_ctl_old, epoll_wait_old, eventfd, eventfd2, signalfd, signalfd4, timerfd_create,
     timerfd_settime, timerfd_gettime, nanosleep, clock_nanosleep, clock_gettime, clock_getres,
     gettimeofday, time, times, getitimer, setitimer, alarm, timer_create,
     timer_settime, timer_gettime, timer_getoverrun, timer_delete, pause, io_setup,
     io_destroy, io_submit, io_cancel, io_getevents, io_pgetevents},
    {Action::allow, "memory of the own process", mmap, munmap, mremap, mprotect, madvise, msync,
     mincore, brk, mlock, mlock2, munlock, mlockall, munlockall, membarrier,
     pkey_alloc, pkey_free, pkey_mprotect, get_mempolicy, set_mempolicy, mbind,
     set_mempolicy_home_node, remap_file_pages, map_shadow_stack, mseal},
    {Action::memfd_flags, "memory files that can never be executed (MFD_NOEXEC_SEAL)", memfd_create},
    {Action::limits_of_others, "a process may set its own limits and read another's", prlimit64},
    {Action::clone_flags, "processes and threads, in no new namespace", clone},
    {Action::allow, "processes and threads of the own pid namespace", fork, vfork, execve, execveat,
     exit, exit_group, wait4, waitid, getpid, getppid, gettid, getpgid, getpgrp,
     setpgid, getsid, setsid, set_tid_address, set_robust_list, get_robust_list, rseq,
     arch_prctl, futex, futex_waitv, futex_wake, futex_wait, futex_requeue,
     sched_yield, sched_getparam, sched_getscheduler, sched_get_priority_max,
     sched_get_priority_min, sched_rr_get_interval, sched_getaffinity, sched_getattr, getcpu,
     getpriority, ioprio_get, getrlimit, setrlimit, getrusage, pidfd_open,
     pidfd_send_signal, uretprobe, restart_syscall},
    {Action::of_oneself, "when and where a process runs; of others the pid namespace alone would keep it away", sched_setparam,
     sched_setscheduler, sched_setaffinity, sched_setattr},
    {Action::of_one_oneself, "how nice it is, to the processor and to disks", setpriority, ioprio_set},
    {Action::signal, "signals; the pid namespace, Landlock's scope or the warden bounds whom they reach", kill,
     tkill, tgkill},
    {Action::allow, "signals with a value, which below Landlock's scope another filter refuses, and what is sent",
     rt_sigqueueinfo, rt_tgsigqueueinfo, rt_sigaction, rt_sigprocmask, rt_sigreturn,
     rt_sigpending, rt_sigtimedwait, rt_sigsuspend, sigaltstack},
    {Action::allow, "ids: one user and one group are mapped, so a change can only be to itself; ids_filter says so", getuid,
     geteuid, getgid, getegid, getresuid, getresgid, getgroups, setuid, setgid,
     setreuid, setregid, setresuid, setresgid, setfsuid, setfsgid, setgroups, capget,
     capset},
    {Action::allow, "facts about the machine that carry no secret", uname, sysinfo, getrandom},
    {Action::socket_kind, "unix, TCP and UDP, and netlink's route family, which getifaddrs needs", socket},
    {Action::socket_pair, "unix pairs", socketpair},
    {Action::networked, "addresses of the own network namespace, which has loopback alone", connect, accept,
     accept4, bind, listen},
    {Action::allow, "sockets the command could make", getsockname, getpeername, sendto, recvfrom,
     sendmsg, recvmsg, sendmmsg, recvmmsg, shutdown, setsockopt, getsockopt},
    {Action::kept_memory,
     "queues and semaphores of System V in the own ipc namespace; what they hold outlives every process that could be "
     "asked for it, and each process that uses a semaphore may have the kernel note what to undo of it",
     msgget, msgsnd, msgrcv, msgctl, semget},
    {Action::kept_segment, "segments, likewise: 4,096 of them at most, which databases use as a lock", shmget},
    {Action::host_wide, "what the segments and semaphores of the own ipc namespace are used by", shmat, shmdt,
     shmctl, semop, semtimedop, semctl},
    {Action::host_wide, "POSIX queues of the own ipc namespace, bounded by RLIMIT_MSGQUEUE", mq_open, mq_unlink,
     mq_timedsend, mq_timedreceive, mq_notify, mq_getsetattr},
    {Action::ioctl_request, "devices of the view are harmless; requests that type into a terminal are not", ioctl},
    {Action::prctl_option, "a process may name and tighten itself", prctl},
    {Action::persona, "asking, the plain one, and the one without address randomisation", personality},
    {Action::seccomp_operation, "a program may tighten itself further, without a listener", seccomp},
    {Action::tracing, "other processes' memory and registers; a debug grant brings it back for the own tree",
     ptrace, process_vm_readv, process_vm_writev},

    {Action::refuse, "namespaces and the mount view are ours to make", unshare, setns, mount, umount2,
     pivot_root, chroot, open_tree, move_mount, fsopen, fsconfig, fsmount, fspick,
     mount_setattr, open_tree_attr, statmount, listmount},
    {Action::refuse, "kernel surface with a history and no need here", bpf, perf_event_open, userfaultfd,
     io_uring_setup, io_uring_enter, io_uring_register, vmsplice, modify_ldt, kcmp,
     memfd_secret, move_pages, migrate_pages, process_madvise, process_mrelease,
     lookup_dcookie, fanotify_init, fanotify_mark},
    {Action::refuse, "keys of the caller", keyctl, add_key, request_key},
    {Action::refuse, "takes a descriptor or a file past the mount view", pidfd_getfd, name_to_handle_at,
     open_by_handle_at},
    {Action::refuse, "the machine's own state", reboot, kexec_load, kexec_file_load, init_module,
     finit_module, delete_module, swapon, swapoff, sethostname, setdomainname,
     settimeofday, clock_settime, adjtimex, clock_adjtime, syslog, acct, quotactl,
     quotactl_fd, iopl, ioperm, vhangup},
    {Action::refuse, "the sandbox is not its own warden", landlock_create_ruleset, landlock_add_rule,
     landlock_restrict_self, lsm_set_self_attr},
    {Action::absent, "too new for anything to depend on; their older forms are there", setxattrat,
     getxattrat, listxattrat, removexattrat, file_getattr, file_setattr,
     lsm_get_self_attr, lsm_list_modules},
    {Action::absent, "gone from the kernel, or never in it", uselib, ustat, sysfs, _sysctl,
     create_module, get_kernel_syms, query_module, nfsservctl, getpmsg, putpmsg,
     afs_syscall, tuxcall, security, set_thread_area, get_thread_area, vserver},
};
}  // namespace table
// clang-format on
using table::groups;

inline constexpr int last_known_call = number_of(Call::file_setattr);

}  // namespace cloche::jail
