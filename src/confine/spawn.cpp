#include "confine/spawn.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.hpp"

namespace cloche {
namespace {

struct Image {
  const char* program;
  char* const* argv;
  const int* fds;
  int count;
};

// Runs in the child, which borrows our memory until it executes: system calls only, and nothing is changed
// but `failed`.
[[noreturn]] void become(const Image& image, volatile int* failed) {
  char* environment[] = {nullptr};
  for (int i = 0; i < image.count; ++i) ::dup2(image.fds[i], i);
  ::syscall(SYS_close_range, image.count, ~0U, 0);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(image.program, image.argv, environment);
  *failed = errno;
  ::_exit(127);
}

// vfork, because it costs the same however large this process is, and because a process with threads may do
// nothing else than execute. A function of its own: the child must not return through our caller's frame.
__attribute__((noinline)) pid_t fork_into(const Image& image, volatile int* failed) {
  const pid_t child = ::vfork();
  if (child == 0) become(image, failed);
  return child;
}

}  // namespace

Result<Spawned> spawn(const std::string& program, std::vector<std::string> arguments,
                      const std::vector<int>& fds) {
  // Above every number that is assigned to below, so that no assignment overwrites a source.
  std::vector<OwnedFd> lifted;
  std::vector<int> numbers;
  for (int fd : fds) {
    OwnedFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 64));
    if (!copy) return system_error("copy a descriptor for the jail");
    numbers.push_back(copy.get());
    lifted.push_back(std::move(copy));
  }
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const Image image{program.c_str(), argv.data(), numbers.data(), static_cast<int>(numbers.size())};
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // no handler of ours may run in the child
  volatile int failed = 0;
  const pid_t pid = fork_into(image, &failed);
  const int fork_error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return system_error("start the jail", fork_error);
  if (failed != 0) {
    siginfo_t ended{};
    ::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED);
    Error error = system_error("execute " + program, failed);
    error.fix = "cloche-jail belongs beside cloche: build or install both";
    return error;
  }
  return Spawned{pid, TRY(sys::pidfd_open(pid))};  // our child and not waited for: the number is its own
}

}  // namespace cloche
