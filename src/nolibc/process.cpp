// Signals and processes.
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "nolibc/call.hpp"

using cloche::nolibc::call;
using cloche::nolibc::checked;
using cloche::nolibc::raw;

namespace {

// What the kernel calls struct sigaction.
struct KernelAction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)();
  unsigned long mask;
};
constexpr size_t kernel_mask_bytes = 8;

}  // namespace

extern "C" {

// ---- signals: only what needs no handler ----

int sigemptyset(sigset_t* set) noexcept {
  memset(set, 0, sizeof *set);
  return 0;
}
int sigaddset(sigset_t* set, int number) noexcept {
  set->__val[0] |= 1UL << (number - 1);
  return 0;
}
int sigprocmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  return static_cast<int>(call(SYS_rt_sigprocmask, how, set, before, kernel_mask_bytes));
}
int sigwaitinfo(const sigset_t* set, siginfo_t* info) {
  return static_cast<int>(call(SYS_rt_sigtimedwait, set, info, nullptr, kernel_mask_bytes));
}
int sigaction(int number, const struct sigaction* wanted, struct sigaction*) noexcept {
  const KernelAction action{wanted->sa_handler, 0, nullptr, 0};  // SIG_DFL or SIG_IGN: nothing to return from
  return static_cast<int>(call(SYS_rt_sigaction, number, &action, nullptr, kernel_mask_bytes));
}
sighandler_t signal(int number, sighandler_t handler) noexcept {
  struct sigaction wanted {};
  wanted.sa_handler = handler;
  return sigaction(number, &wanted, nullptr) == 0 ? SIG_DFL : SIG_ERR;
}
int signalfd(int fd, const sigset_t* set, int flags) noexcept {
  return static_cast<int>(call(SYS_signalfd4, fd, set, kernel_mask_bytes, flags));
}

// ---- processes ----

int kill(pid_t pid, int number) noexcept { return static_cast<int>(call(SYS_kill, pid, number)); }
pid_t wait4(pid_t pid, int* status, int flags, rusage* usage) noexcept {
  return static_cast<pid_t>(call(SYS_wait4, pid, status, flags, usage));
}
pid_t waitpid(pid_t pid, int* status, int flags) { return wait4(pid, status, flags, nullptr); }
int execve(const char* path, char* const* argv, char* const* env) noexcept {
  return static_cast<int>(call(SYS_execve, path, argv, env));
}
void _exit(int code) {
  while (true) raw(SYS_exit_group, code);
}

[[gnu::used]] pid_t vfork_failed(int result) {
  errno = -result;
  return -1;
}
// The child runs on our stack until it executes or exits, so the return address must not lie on it meanwhile.
__attribute__((naked, returns_twice)) pid_t vfork() noexcept {
  asm("pop %rdx\n"
      "mov $58, %eax\n"  // SYS_vfork
      "syscall\n"
      "push %rdx\n"
      "test %eax, %eax\n"
      "js 1f\n"
      "ret\n"
      "1: mov %eax, %edi\n"
      "jmp vfork_failed\n");
}

// With a stack of its own; the child calls function(argument) and exits. Used with CLONE_VFORK only.
__attribute__((naked)) int clone_call(int (*)(void*), void*, int, void*) {
  asm("mov %rdi, %r8\n"   // function
      "mov %rcx, %r9\n"   // argument
      "mov %edx, %edi\n"  // flags; the stack is in rsi already
      "xor %edx, %edx\n"
      "xor %r10d, %r10d\n"
      "mov $56, %eax\n"  // SYS_clone
      "syscall\n"
      "test %eax, %eax\n"
      "jz 1f\n"
      "ret\n"
      "1: xor %ebp, %ebp\n"
      "mov %r9, %rdi\n"
      "call *%r8\n"
      "mov %eax, %edi\n"
      "mov $60, %eax\n"  // SYS_exit
      "syscall\n"
      "ud2\n");
}
int clone(int (*function)(void*), void* stack, int flags, void* argument, ...) noexcept {
  return static_cast<int>(checked(clone_call(function, stack, flags, argument)));
}

}  // extern "C"
