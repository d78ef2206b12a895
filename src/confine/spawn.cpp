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
  char* const* environment;
  int* fds;  // the child's to change: it has a table of its own
  int count;
};

[[noreturn]] void give_up(volatile int* failed) {
  *failed = errno;
  ::_exit(127);
}

// Runs in the child, which borrows our memory until it executes: system calls only, and nothing is changed
// but `failed` and the numbers.
[[noreturn]] void become(const Image& image, volatile int* failed) {
  // First above every number that is assigned to, so that no assignment overwrites a source.
  for (int i = 0; i < image.count; ++i) {
    image.fds[i] = ::fcntl(image.fds[i], F_DUPFD, image.count);
    if (image.fds[i] < 0) give_up(failed);
  }
  for (int i = 0; i < image.count; ++i) ::dup2(image.fds[i], i);
  ::syscall(SYS_close_range, image.count, ~0U, 0);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(image.program, image.argv, image.environment);
  give_up(failed);
}

// vfork, because it costs the same however large this process is, and because a process with threads may do
// nothing else than execute. A function of its own: the child must not return through our caller's frame.
__attribute__((noinline)) pid_t fork_into(const Image& image, volatile int* failed) {
  const pid_t child = ::vfork();
  if (child == 0) become(image, failed);
  return child;
}

}  // namespace

Result<Spawned> spawn(const std::string& program, std::vector<std::string> arguments, std::vector<int> fds,
                      char* const* environment) {
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  char* nothing[] = {nullptr};
  const Image image{program.c_str(), argv.data(), environment != nullptr ? environment : nothing, fds.data(),
                    static_cast<int>(fds.size())};
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // no handler of ours may run in the child
  volatile int failed = 0;
  const pid_t pid = fork_into(image, &failed);
  const int fork_error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return system_error("start " + program, fork_error);
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
