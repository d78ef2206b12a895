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
using cloche::nolibc::kernel_mask_bytes;
using cloche::nolibc::raw;

namespace {

// What the kernel calls struct sigaction.
struct KernelAction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)();
  unsigned long mask;
};

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
// The two calls after which the kernel returns twice, in assembler because a compiler knows nothing of it.
pid_t vfork() noexcept __attribute__((returns_twice));
long clone_call(int (*function)(void*), void* stack, int flags, void* argument);

#if defined(__x86_64__)

// The child runs on our stack until it executes or exits, so the return address must not lie on it meanwhile.
asm(R"(
    .section .text.vfork, "ax", @progbits
    .globl vfork
    .type vfork, @function
vfork:
    pop %rdx
    mov $58, %eax        # SYS_vfork
    syscall
    push %rdx
    test %eax, %eax
    js 1f
    ret
1:  mov %eax, %edi
    jmp vfork_failed
    .size vfork, . - vfork
    .previous
)");

// With a stack of its own; the child calls function(argument) and exits. Used with CLONE_VFORK only.
asm(R"(
    .section .text.clone_call, "ax", @progbits
    .globl clone_call
    .type clone_call, @function
clone_call:
    mov %rdi, %r8        # function
    mov %rcx, %r9        # argument
    mov %edx, %edi       # flags; the stack is in rsi already
    xor %edx, %edx
    xor %r10d, %r10d
    mov $56, %eax        # SYS_clone
    syscall
    test %rax, %rax
    jz 1f
    ret
1:  xor %ebp, %ebp
    mov %r9, %rdi
    call *%r8
    mov %eax, %edi
    mov $60, %eax        # SYS_exit
    syscall
    ud2
    .size clone_call, . - clone_call
    .previous
)");

#elif defined(__aarch64__)

// The return address is in x30, which the child has too, and not on the stack that both run on.
asm(R"(
    .section .text.vfork, "ax", @progbits
    .globl vfork
    .type vfork, @function
vfork:
    mov x0, #0x4111      // CLONE_VFORK, CLONE_VM, SIGCHLD
    mov x1, xzr
    mov x2, xzr
    mov x3, xzr
    mov x4, xzr
    mov x8, #220         // SYS_clone
    svc #0
    tbnz w0, #31, 1f
    ret
1:  b vfork_failed
    .size vfork, . - vfork
    .previous
)");

// As on x86-64; the kernel takes flags, stack, parent's word, thread's storage, child's word.
asm(R"(
    .section .text.clone_call, "ax", @progbits
    .globl clone_call
    .type clone_call, @function
clone_call:
    mov x9, x0           // function
    mov x10, x3          // argument
    mov w0, w2           // flags; the stack is in x1 already
    mov x2, xzr
    mov x3, xzr
    mov x4, xzr
    mov x8, #220         // SYS_clone
    svc #0
    cbz x0, 1f
    ret
1:  mov x29, xzr
    mov x0, x10
    blr x9
    mov x8, #93          // SYS_exit
    svc #0
    brk #1
    .size clone_call, . - clone_call
    .previous
)");

#endif

int clone(int (*function)(void*), void* stack, int flags, void* argument, ...) noexcept {
  return static_cast<int>(checked(clone_call(function, stack, flags, argument)));
}

}  // extern "C"
