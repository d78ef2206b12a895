// What the jail uses of a C library, and nothing else: system calls under their usual names, a few functions
// on bytes, and the entry point. glibc's own start asks the processor about itself dozens of times, and in a
// virtual machine each question is a trap: a third of a millisecond before main(), more than everything the
// jail does to lock itself in.
//
// Built for one thread and no signal handlers, without thread-local storage: errno is a plain variable.
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>

#ifndef __x86_64__
#error "the jail knows the system calls of x86-64 only"
#endif

namespace {

int the_errno;

long raw(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result = number;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

long checked(long result) {
  if (result >= 0 || result < -4095) return result;
  the_errno = static_cast<int>(-result);
  return -1;
}

template <typename... Arguments>
long call(long number, Arguments... arguments) {
  return checked(raw(number, (long)arguments...));  // NOLINT: pointers and numbers alike travel in registers
}

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

int* __errno_location() { return &the_errno; }

// ---- bytes; the compiler calls some of these on its own ----

// Kept from being recognised as the loops they are and turned into calls to themselves.
#define NOT_A_LOOP __attribute__((optimize("no-tree-loop-distribute-patterns"), used))
#ifdef __clang__
#undef NOT_A_LOOP
#define NOT_A_LOOP __attribute__((used, no_builtin))
#endif

NOT_A_LOOP void* memcpy(void* to, const void* from, size_t size) {
  auto* out = static_cast<char*>(to);
  const auto* in = static_cast<const char*>(from);
  for (size_t i = 0; i < size; ++i) out[i] = in[i];
  return to;
}
NOT_A_LOOP void* memset(void* to, int value, size_t size) {
  auto* out = static_cast<char*>(to);
  for (size_t i = 0; i < size; ++i) out[i] = static_cast<char>(value);
  return to;
}
NOT_A_LOOP void* memchr(const void* where, int value, size_t size) {
  const auto* bytes = static_cast<const char*>(where);
  for (size_t i = 0; i < size; ++i) {
    if (bytes[i] == static_cast<char>(value)) return const_cast<char*>(bytes + i);
  }
  return nullptr;
}
NOT_A_LOOP size_t strlen(const char* text) {
  size_t size = 0;
  while (text[size] != '\0') ++size;
  return size;
}
NOT_A_LOOP char* strchr(const char* text, int value) {
  for (;; ++text) {
    if (*text == static_cast<char>(value)) return const_cast<char*>(text);
    if (*text == '\0') return nullptr;
  }
}
NOT_A_LOOP int strcmp(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return static_cast<unsigned char>(*a) - static_cast<unsigned char>(*b);
}
NOT_A_LOOP char* strcpy(char* to, const char* from) {
  memcpy(to, from, strlen(from) + 1);
  return to;
}
[[noreturn]] void abort() {
  while (true) asm volatile("ud2");
}

// ---- system calls under their usual names ----

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
int rmdir(const char* path) noexcept { return static_cast<int>(call(SYS_rmdir, path)); }
int chdir(const char* path) noexcept { return static_cast<int>(call(SYS_chdir, path)); }
int fchdir(int fd) noexcept { return static_cast<int>(call(SYS_fchdir, fd)); }
mode_t umask(mode_t mask) noexcept { return static_cast<mode_t>(call(SYS_umask, mask)); }
int umount2(const char* path, int flags) noexcept { return static_cast<int>(call(SYS_umount2, path, flags)); }
int dup2(int from, int to) noexcept { return static_cast<int>(call(SYS_dup2, from, to)); }
int pipe2(int* ends, int flags) noexcept { return static_cast<int>(call(SYS_pipe2, ends, flags)); }
int poll(pollfd* events, nfds_t count, int timeout_ms) {
  return static_cast<int>(call(SYS_poll, events, count, timeout_ms));
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

// ---- processes ----

// The child runs on our stack until it executes or exits, so the return address must not lie on it meanwhile.
__attribute__((naked, returns_twice)) pid_t vfork() noexcept {
  asm("pop %rdx\n"
      "mov $58, %eax\n"  // SYS_vfork
      "syscall\n"
      "push %rdx\n"
      "ret\n");
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

// ---- the entry point ----

int jail_main(int argc, char** argv);

[[noreturn, gnu::used]] void enter(long* stack) {
  _exit(jail_main(static_cast<int>(stack[0]), reinterpret_cast<char**>(stack + 1)));
}

__attribute__((naked, noreturn)) void _start() {
  asm("xor %ebp, %ebp\n"
      "mov %rsp, %rdi\n"
      "and $-16, %rsp\n"
      "call enter\n"
      "ud2\n");
}

}  // extern "C"
