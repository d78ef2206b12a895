// nolibc on this processor: what is written in its assembler, or goes by another system call than the
// function's name says. It has no library to be tested with, so a check that fails is told and counted, and
// ends the program by 1.
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>

namespace {

int failed = 0;

void check(const char* what, bool holds) {
  if (holds) return;
  ++failed;
  (void)!::write(2, what, std::strlen(what));
  (void)!::write(2, ": not as it should be\n", 22);
}

unsigned char from[1024];
unsigned char to[1024];

void check_bytes() {
  for (size_t i = 0; i < sizeof from; ++i) from[i] = static_cast<unsigned char>(i * 7 + i / 256);
  bool copied = true;
  bool filled = true;
  for (size_t size = 0; size < 600; ++size) {
    std::memset(to, 0xaa, sizeof to);
    std::memcpy(to + 3, from + 1, size);
    for (size_t i = 0; i < size; ++i) copied = copied && to[3 + i] == from[1 + i];
    copied = copied && to[2] == 0xaa && to[3 + size] == 0xaa;
    std::memset(to, 0xaa, sizeof to);
    std::memset(to + 5, static_cast<int>(size), size);
    for (size_t i = 0; i < size; ++i) filled = filled && to[5 + i] == static_cast<unsigned char>(size);
    filled = filled && to[4] == 0xaa && to[5 + size] == 0xaa;
  }
  check("memcpy", copied);
  check("memset", filled);
  bool moved = true;
  for (size_t size = 0; size < 400; ++size) {
    for (const int step : {-40, -1, 1, 17}) {
      for (size_t i = 0; i < sizeof to; ++i) to[i] = static_cast<unsigned char>(i * 13);
      std::memmove(to + 100 + step, to + 100, size);
      for (size_t i = 0; i < size; ++i)
        moved = moved && to[100 + static_cast<size_t>(static_cast<long>(i) + step)] ==
                             static_cast<unsigned char>((100 + i) * 13);
    }
  }
  check("memmove", moved);
  check("memcmp",
        std::memcmp("abcdefghij", "abcdefghik", 10) < 0 && std::memcmp("abcdefghij", "abcdefghij", 10) == 0);
}

void check_errors() {
  errno = 0;
  check("a call that fails", ::close(-1) == -1 && errno == EBADF);
  check("a call with six arguments",
        ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
}

void check_files() {
  char name[64] = "/tmp/cloche-nolibc-XXXXXXXX";
  unsigned char random[8];
  check("getrandom", ::syscall(SYS_getrandom, random, sizeof random, 0) == sizeof random);
  for (size_t i = 0; i < sizeof random; ++i) name[19 + i] = static_cast<char>('a' + random[i] % 26);
  check("mkdirat", ::mkdirat(AT_FDCWD, name, 0700) == 0);
  check("access", ::access(name, R_OK) == 0);
  struct stat seen {};
  const int directory = ::open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  check("fstat", ::fstat(directory, &seen) == 0 && S_ISDIR(seen.st_mode) && (seen.st_mode & 0777) == 0700);
  char link[64] = {};
  check("symlinkat", ::symlinkat("over there", directory, "link") == 0);
  check("fchdir", ::fchdir(directory) == 0);
  check("readlink", ::readlink("link", link, sizeof link) == 10 && std::memcmp(link, "over there", 10) == 0);
  check("unlinkat", ::syscall(SYS_unlinkat, directory, "link", 0) == 0);
  check("rmdir", ::rmdir(name) == 0 && ::access(name, F_OK) == -1 && errno == ENOENT);
  ::close(directory);
}

void check_descriptors() {
  int ends[2];
  check("pipe2", ::pipe2(ends, O_CLOEXEC) == 0);
  check("dup2 of itself", ::dup2(ends[0], ends[0]) == ends[0] && ::fcntl(ends[0], F_GETFD) == FD_CLOEXEC);
  check("dup2", ::dup2(ends[1], 100) == 100 && ::fcntl(100, F_GETFD) == 0);
  check("dup2 of nothing", ::dup2(77, 77) == -1 && errno == EBADF);
  pollfd readable{ends[0], POLLIN, 0};
  check("poll of nothing", ::poll(&readable, 1, 0) == 0 && ::poll(&readable, 1, 20) == 0);
  const int waiter = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = 0x123456789abcdef0;
  check("epoll_ctl", ::epoll_ctl(waiter, EPOLL_CTL_ADD, ends[0], &event) == 0);
  epoll_event seen{};
  check("epoll_wait for nothing", ::epoll_wait(waiter, &seen, 1, 0) == 0);
  check("write", ::write(100, "x", 1) == 1);
  check("poll", ::poll(&readable, 1, -1) == 1 && readable.revents == POLLIN);
  check("epoll_wait", ::epoll_wait(waiter, &seen, 1, -1) == 1 && seen.data.u64 == 0x123456789abcdef0);
}

alignas(16) char stack[16384];
int leave(void* code) { return *static_cast<int*>(code); }

void check_processes() {
  int kept = 41;  // on the stack that the child runs on
  const pid_t child = ::vfork();
  if (child == 0) {
    const char* const words[] = {"/nonexistent", nullptr};
    ::execve(words[0], const_cast<char* const*>(words), nullptr);
    ::_exit(errno == ENOENT ? 7 : 8);
  }
  int status = 0;
  check("vfork",
        child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
  check("the stack after vfork", kept == 41);
  int code = 9;
  const int with_stack = ::clone(leave, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &code);
  check("clone", with_stack > 0 && ::waitpid(with_stack, &status, 0) == with_stack && WIFEXITED(status) &&
                     WEXITSTATUS(status) == 9);
  check("a clone that fails",
        ::clone(leave, stack + sizeof stack, CLONE_SIGHAND | SIGCHLD, &code) == -1 && errno == EINVAL);
}

void check_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGUSR1);
  check("sigprocmask", ::sigprocmask(SIG_BLOCK, &set, nullptr) == 0);
  check("kill", ::kill(static_cast<pid_t>(::syscall(SYS_getpid)), SIGUSR1) == 0);
  siginfo_t info{};
  check("sigwaitinfo", ::sigwaitinfo(&set, &info) == SIGUSR1 && info.si_signo == SIGUSR1);
  check("signal", ::signal(SIGPIPE, SIG_IGN) != SIG_ERR);
}

int constructed = 0;
struct Constructed {
  Constructed() { constructed = 3; }
} instance;

}  // namespace

extern "C" int main(int argc, char** argv) {  // by that name also where no library knows of it
  check("the arguments", argc == 1 && argv[0] != nullptr && argv[1] == nullptr);
  check("the environment", environ == argv + argc + 1);
  check("constructors", constructed == 3);
  check_bytes();
  check_errors();
  check_files();
  check_descriptors();
  check_processes();
  check_signals();
  if (failed == 0) (void)!::write(1, "nolibc: every check holds\n", 26);
  return failed == 0 ? 0 : 1;
}
