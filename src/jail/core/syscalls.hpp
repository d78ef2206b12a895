// Which system calls a command may make, each group with its reason. Default-deny: a number that is in no
// group is answered ENOSYS, as a kernel that never had it would; a refused one EPERM, so that a person sees
// who said no. A test checks that every call of this kernel generation stands in exactly one group.
#pragma once

#include <sys/syscall.h>

#include <array>
#include <cstddef>

namespace cloche::jail {

// Numbers that Debian 12's headers do not know yet. The x86-64 table is append-only.
namespace number {
inline constexpr int uretprobe = 335, cachestat = 451, fchmodat2 = 452, map_shadow_stack = 453,
                     futex_wake = 454, futex_wait = 455, futex_requeue = 456, statmount = 457,
                     listmount = 458, lsm_get_self_attr = 459, lsm_set_self_attr = 460,
                     lsm_list_modules = 461, mseal = 462, setxattrat = 463, getxattrat = 464,
                     listxattrat = 465, removexattrat = 466, open_tree_attr = 467, file_getattr = 468,
                     file_setattr = 469;
}  // namespace number

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
  std::array<short, 72> calls;
  size_t count;

  template <typename... Numbers>
  constexpr Group(Action decided, const char* why, Numbers... numbers)
      : action(decided), reason(why), calls{static_cast<short>(numbers)...}, count(sizeof...(numbers)) {}
};

// A table reads as rows:
// clang-format off
inline constexpr Group groups[] = {
    {Action::allow, "bytes in and out of descriptors the command already holds", SYS_read, SYS_write, SYS_readv,
     SYS_writev, SYS_pread64, SYS_pwrite64, SYS_preadv, SYS_pwritev, SYS_preadv2, SYS_pwritev2, SYS_lseek, SYS_close,
     SYS_close_range, SYS_dup, SYS_dup2, SYS_dup3, SYS_pipe, SYS_pipe2, SYS_fcntl, SYS_flock, SYS_sendfile,
     SYS_copy_file_range, SYS_splice, SYS_tee, SYS_readahead, SYS_fadvise64, SYS_sync_file_range, SYS_fsync,
     SYS_fdatasync, SYS_sync, SYS_syncfs, SYS_ftruncate, SYS_truncate, number::cachestat},
    {Action::allow, "names and metadata; the mount view and Landlock decide which", SYS_stat, SYS_fstat, SYS_lstat,
     SYS_newfstatat, SYS_statx, SYS_statfs, SYS_fstatfs, SYS_access, SYS_faccessat, SYS_faccessat2, SYS_readlink,
     SYS_readlinkat, SYS_getdents, SYS_getdents64, SYS_getcwd, SYS_chdir, SYS_fchdir, SYS_rename, SYS_renameat,
     SYS_renameat2, SYS_rmdir, SYS_link, SYS_linkat, SYS_unlink, SYS_unlinkat, SYS_symlink, SYS_symlinkat, SYS_umask,
     SYS_inotify_init, SYS_inotify_init1, SYS_inotify_rm_watch},
    {Action::allow, "extended attributes, to be read", SYS_getxattr, SYS_lgetxattr, SYS_fgetxattr, SYS_listxattr,
     SYS_llistxattr, SYS_flistxattr},
    {Action::by_warden, "what Landlock does not look at, so that the mount view or the warden decides whose it is: owners and times, and what is heard of a file",
     SYS_chown, SYS_fchown, SYS_lchown, SYS_fchownat, SYS_utime, SYS_utimes, SYS_utimensat, SYS_futimesat,
     SYS_inotify_add_watch},
    {Action::attributes, "the same: attributes, of which trusted.* and security.* need capabilities that no process here has",
     SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr},
    {Action::fallocate_mode, "frees space; taking it by promise would outrun every watch of the disk, and is answered as by a file system "
     "that cannot: libc then writes instead", SYS_fallocate},
    {Action::mode_of_open, "opens files; no set-id bit at creation, because on disk the owner may be root", SYS_open},
    {Action::mode_of_openat, "the same with a directory descriptor", SYS_openat},
    {Action::mode_argument_1, "creates; no set-id bits", SYS_creat, SYS_mkdir, SYS_mknod},
    {Action::mode_argument_2, "the same with a directory descriptor", SYS_mkdirat, SYS_mknodat},
    {Action::new_mode_1, "changes modes; no set-id bits, and by the warden where Landlock alone would have to look", SYS_chmod,
     SYS_fchmod},
    {Action::new_mode_2, "the same with a directory descriptor", SYS_fchmodat, number::fchmodat2},
    {Action::absent, "openat2 and clone3 take their flags from memory, where a filter cannot see them; every libc "
                     "falls back to openat and clone on ENOSYS", SYS_openat2, SYS_clone3},
    {Action::allow, "waiting for descriptors and time", SYS_poll, SYS_ppoll, SYS_select, SYS_pselect6,
     SYS_epoll_create, SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_wait, SYS_epoll_pwait, SYS_epoll_pwait2,
     SYS_epoll_ctl_old, SYS_epoll_wait_old, SYS_eventfd, SYS_eventfd2, SYS_signalfd, SYS_signalfd4, SYS_timerfd_create,
     SYS_timerfd_settime, SYS_timerfd_gettime, SYS_nanosleep, SYS_clock_nanosleep, SYS_clock_gettime, SYS_clock_getres,
     SYS_gettimeofday, SYS_time, SYS_times, SYS_getitimer, SYS_setitimer, SYS_alarm, SYS_timer_create,
     SYS_timer_settime, SYS_timer_gettime, SYS_timer_getoverrun, SYS_timer_delete, SYS_pause, SYS_io_setup,
     SYS_io_destroy, SYS_io_submit, SYS_io_cancel, SYS_io_getevents, SYS_io_pgetevents},
    {Action::allow, "memory of the own process", SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_msync,
     SYS_mincore, SYS_brk, SYS_mlock, SYS_mlock2, SYS_munlock, SYS_mlockall, SYS_munlockall, SYS_membarrier,
     SYS_pkey_alloc, SYS_pkey_free, SYS_pkey_mprotect, SYS_get_mempolicy, SYS_set_mempolicy, SYS_mbind,
     SYS_set_mempolicy_home_node, SYS_remap_file_pages, number::map_shadow_stack, number::mseal},
    {Action::memfd_flags, "memory files that can never be executed (MFD_NOEXEC_SEAL)", SYS_memfd_create},
    {Action::limits_of_others, "a process may set its own limits and read another's", SYS_prlimit64},
    {Action::clone_flags, "processes and threads, in no new namespace", SYS_clone},
    {Action::allow, "processes and threads of the own pid namespace", SYS_fork, SYS_vfork, SYS_execve, SYS_execveat,
     SYS_exit, SYS_exit_group, SYS_wait4, SYS_waitid, SYS_getpid, SYS_getppid, SYS_gettid, SYS_getpgid, SYS_getpgrp,
     SYS_setpgid, SYS_getsid, SYS_setsid, SYS_set_tid_address, SYS_set_robust_list, SYS_get_robust_list, SYS_rseq,
     SYS_arch_prctl, SYS_futex, SYS_futex_waitv, number::futex_wake, number::futex_wait, number::futex_requeue,
     SYS_sched_yield, SYS_sched_getparam, SYS_sched_getscheduler, SYS_sched_get_priority_max,
     SYS_sched_get_priority_min, SYS_sched_rr_get_interval, SYS_sched_getaffinity, SYS_sched_getattr, SYS_getcpu,
     SYS_getpriority, SYS_ioprio_get, SYS_getrlimit, SYS_setrlimit, SYS_getrusage, SYS_pidfd_open,
     SYS_pidfd_send_signal, number::uretprobe, SYS_restart_syscall},
    {Action::of_oneself, "when and where a process runs; of others the pid namespace alone would keep it away", SYS_sched_setparam,
     SYS_sched_setscheduler, SYS_sched_setaffinity, SYS_sched_setattr},
    {Action::of_one_oneself, "how nice it is, to the processor and to disks", SYS_setpriority, SYS_ioprio_set},
    {Action::signal, "signals; the pid namespace, Landlock's scope or the warden bounds whom they reach", SYS_kill,
     SYS_tkill, SYS_tgkill},
    {Action::allow, "signals with a value, which below Landlock's scope another filter refuses, and what is sent",
     SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn,
     SYS_rt_sigpending, SYS_rt_sigtimedwait, SYS_rt_sigsuspend, SYS_sigaltstack},
    {Action::allow, "ids: one user and one group are mapped, so a change can only be to itself; ids_filter says so", SYS_getuid,
     SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getresuid, SYS_getresgid, SYS_getgroups, SYS_setuid, SYS_setgid,
     SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_setfsuid, SYS_setfsgid, SYS_setgroups, SYS_capget,
     SYS_capset},
    {Action::allow, "facts about the machine that carry no secret", SYS_uname, SYS_sysinfo, SYS_getrandom},
    {Action::socket_kind, "unix, TCP and UDP, and netlink's route family, which getifaddrs needs", SYS_socket},
    {Action::socket_pair, "unix pairs", SYS_socketpair},
    {Action::networked, "addresses of the own network namespace, which has loopback alone", SYS_connect, SYS_accept,
     SYS_accept4, SYS_bind, SYS_listen},
    {Action::allow, "sockets the command could make", SYS_getsockname, SYS_getpeername, SYS_sendto, SYS_recvfrom,
     SYS_sendmsg, SYS_recvmsg, SYS_sendmmsg, SYS_recvmmsg, SYS_shutdown, SYS_setsockopt, SYS_getsockopt},
    {Action::kept_memory,
     "queues and semaphores of System V in the own ipc namespace; what they hold outlives every process that could be "
     "asked for it, and each process that uses a semaphore may have the kernel note what to undo of it",
     SYS_msgget, SYS_msgsnd, SYS_msgrcv, SYS_msgctl, SYS_semget},
    {Action::kept_segment, "segments, likewise: 4,096 of them at most, which databases use as a lock", SYS_shmget},
    {Action::host_wide, "what the segments and semaphores of the own ipc namespace are used by", SYS_shmat, SYS_shmdt,
     SYS_shmctl, SYS_semop, SYS_semtimedop, SYS_semctl},
    {Action::host_wide, "POSIX queues of the own ipc namespace, bounded by RLIMIT_MSGQUEUE", SYS_mq_open, SYS_mq_unlink,
     SYS_mq_timedsend, SYS_mq_timedreceive, SYS_mq_notify, SYS_mq_getsetattr},
    {Action::ioctl_request, "devices of the view are harmless; requests that type into a terminal are not", SYS_ioctl},
    {Action::prctl_option, "a process may name and tighten itself", SYS_prctl},
    {Action::persona, "asking, the plain one, and the one without address randomisation", SYS_personality},
    {Action::seccomp_operation, "a program may tighten itself further, without a listener", SYS_seccomp},
    {Action::tracing, "other processes' memory and registers; a debug grant brings it back for the own tree",
     SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev},

    {Action::refuse, "namespaces and the mount view are ours to make", SYS_unshare, SYS_setns, SYS_mount, SYS_umount2,
     SYS_pivot_root, SYS_chroot, SYS_open_tree, SYS_move_mount, SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick,
     SYS_mount_setattr, number::open_tree_attr, number::statmount, number::listmount},
    {Action::refuse, "kernel surface with a history and no need here", SYS_bpf, SYS_perf_event_open, SYS_userfaultfd,
     SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register, SYS_vmsplice, SYS_modify_ldt, SYS_kcmp,
     SYS_memfd_secret, SYS_move_pages, SYS_migrate_pages, SYS_process_madvise, SYS_process_mrelease,
     SYS_lookup_dcookie, SYS_fanotify_init, SYS_fanotify_mark},
    {Action::refuse, "keys of the caller", SYS_keyctl, SYS_add_key, SYS_request_key},
    {Action::refuse, "takes a descriptor or a file past the mount view", SYS_pidfd_getfd, SYS_name_to_handle_at,
     SYS_open_by_handle_at},
    {Action::refuse, "the machine's own state", SYS_reboot, SYS_kexec_load, SYS_kexec_file_load, SYS_init_module,
     SYS_finit_module, SYS_delete_module, SYS_swapon, SYS_swapoff, SYS_sethostname, SYS_setdomainname,
     SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime, SYS_syslog, SYS_acct, SYS_quotactl,
     SYS_quotactl_fd, SYS_iopl, SYS_ioperm, SYS_vhangup},
    {Action::refuse, "the sandbox is not its own warden", SYS_landlock_create_ruleset, SYS_landlock_add_rule,
     SYS_landlock_restrict_self, number::lsm_set_self_attr},
    {Action::absent, "too new for anything to depend on; their older forms are there", number::setxattrat,
     number::getxattrat, number::listxattrat, number::removexattrat, number::file_getattr, number::file_setattr,
     number::lsm_get_self_attr, number::lsm_list_modules},
    {Action::absent, "gone from the kernel, or never in it", SYS_uselib, SYS_ustat, SYS_sysfs, SYS__sysctl,
     SYS_create_module, SYS_get_kernel_syms, SYS_query_module, SYS_nfsservctl, SYS_getpmsg, SYS_putpmsg,
     SYS_afs_syscall, SYS_tuxcall, SYS_security, SYS_set_thread_area, SYS_get_thread_area, SYS_vserver},
};
// clang-format on

inline constexpr int last_known_call = number::file_setattr;

}  // namespace cloche::jail
