#include "confine/supervise/spawn.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys/sys.hpp"

namespace cloche {
namespace {

struct Image {
  const char* program;
  char* const* argv;
  char* const* environment;
  int* fds;  // the child's to change: it has a table of its own
  int count;
};

struct Failure {
  int number = 0;
  bool executing = false;  // else it was still taking its descriptors
};

[[noreturn]] void give_up(volatile Failure* failure, bool executing) {
  failure->number = errno;
  failure->executing = executing;
  ::_exit(127);
}

// Runs in the child, which borrows our memory until it executes: system calls only, and nothing is changed
// but `failure` and the numbers.
[[noreturn]] void become(const Image& image, volatile Failure* failure) {
  // First above every number that is assigned to, so that no assignment overwrites a source.
  for (int i = 0; i < image.count; ++i) {
    image.fds[i] = ::fcntl(image.fds[i], F_DUPFD, image.count);
    if (image.fds[i] < 0) give_up(failure, false);
  }
  for (int i = 0; i < image.count; ++i) ::dup2(image.fds[i], i);
  ::syscall(SYS_close_range, image.count, ~0U, 0);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(image.program, image.argv, image.environment);
  give_up(failure, true);
}

// vfork, because it costs the same however large this process is, and because a process with threads may do
// nothing else than execute. A function of its own: the child must not return through our caller's frame.
__attribute__((noinline)) pid_t fork_into(const Image& image, volatile Failure* failure) {
  const pid_t child = ::vfork();
  if (child == 0) become(image, failure);
  return child;
}

// After a vfork the kernel queues the child behind us even where another processor is idle, and it would run
// only once we wait. Forbidding it ours for a moment moves it; where that fails, it merely starts later.
void start_beside_us(pid_t child) {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return;
  cpu_set_t others = allowed;
  CPU_CLR(::sched_getcpu(), &others);
  if (::sched_setaffinity(child, sizeof others, &others) == 0)
    ::sched_setaffinity(child, sizeof allowed, &allowed);
}

// What failed, and what helps against that.
Error error_of(const std::string& program, const Failure& failure) {
  Error error =
      system_error((failure.executing ? "execute " : "hand descriptors to ") + program, failure.number);
  const bool missing = failure.number == ENOENT || failure.number == EACCES || failure.number == ENOEXEC;
  if (failure.executing && missing)
    error.fix = program.substr(program.rfind('/') + 1) + " belongs beside cloche: build or install both";
  // EINVAL: the limit is below the first number that a descriptor could have.
  if (failure.number == EMFILE || (!failure.executing && failure.number == EINVAL))
    error.fix = "raise the limit on open files (ulimit -n)";
  return error;
}

}  // namespace

Result<Spawned> spawn(const OwnProcess&, const std::string& program, std::vector<std::string> arguments,
                      std::vector<int> fds, char* const* environment) {
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
  volatile Failure failure = {};
  const pid_t pid = fork_into(image, &failure);
  const int fork_error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return system_error("start " + program, fork_error);
  if (failure.number != 0) {
    siginfo_t ended{};
    ::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED);
    return error_of(program, {failure.number, failure.executing});
  }
  start_beside_us(pid);
  return Spawned{pid, TRY(sys::pidfd_open(pid))};  // our child and not waited for: the number is its own
}

}  // namespace cloche
