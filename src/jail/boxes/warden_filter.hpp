// What the warden itself may call once the command runs: it reads what the command says, so it keeps no more
// than it needs for an answer and for the command's end. Everything else is EPERM.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <array>
#include <cstddef>
#include <iterator>

#include "jail/core/call_numbers.hpp"

namespace cloche::jail {

inline constexpr int warden_calls[] = {
    SYS_ppoll,
    SYS_ioctl,  // waits for questions, takes and answers them
    SYS_fstat,
    SYS_process_vm_readv,  // what is asked for
    SYS_openat,
    SYS_openat2,  // where that is; and who is a child, at the end
    SYS_close,
    SYS_fcntl,
    SYS_readlinkat,
    SYS_fchmodat,
    SYS_utimensat,  // the answer
    SYS_sched_setaffinity,
    SYS_sched_setscheduler,
    SYS_sched_setparam,
    SYS_sched_setattr,
    SYS_setpriority,
    SYS_ioprio_set,  // likewise, of a thread of the asking process
    SYS_pidfd_open,
    SYS_pidfd_getfd,
    SYS_pidfd_send_signal,
    SYS_getpgid,            // a signal to a descendant
    SYS_getdents64,         // and which processes there are
    SYS_inotify_add_watch,  // likewise, to what the one who asks listens to
    SYS_read,
    SYS_recvfrom,  // signals, and the supervisor's words
    SYS_sendto,
    SYS_write,  // reports, to a socket or to people
    SYS_wait4,
    SYS_kill,  // the command and its descendants
    SYS_getpid,
    SYS_getppid,  // whose parent it is, and who is its own
    SYS_exit_group,
    SYS_restart_syscall,  // a wait goes on after it was stopped
};

// arch, number, one comparison for each call, and two replies.
inline constexpr size_t warden_filter_size = std::size(warden_calls) + 5;

constexpr std::array<sock_filter, warden_filter_size> compile_warden_filter() {
  constexpr auto count = static_cast<uint8_t>(std::size(warden_calls));
  std::array<sock_filter, warden_filter_size> code{};
  size_t at = 0;
  code[at++] = {BPF_LD | BPF_W | BPF_ABS, 0, 0, 4};
  code[at++] = {BPF_JMP | BPF_JEQ | BPF_K, 0, count + 1, audit_architecture(this_architecture)};
  code[at++] = {BPF_LD | BPF_W | BPF_ABS, 0, 0, 0};
  for (uint8_t i = 0; i < count; ++i) {
    const auto to_allow = static_cast<uint8_t>(count - i);
    code[at++] = {BPF_JMP | BPF_JEQ | BPF_K, to_allow, 0, static_cast<uint32_t>(warden_calls[i])};
  }
  code[at++] = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | 1 /* EPERM */};
  code[at++] = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
  return code;
}

}  // namespace cloche::jail
