#include "confine/supervise/spawn.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <utility>

#include "base/sys/sys.hpp"

namespace cloche {

struct Startup::Memory {
  std::string program;
  std::vector<std::string> arguments;
  std::vector<char*> argv;
  char* nothing[1] = {nullptr};
  char* const* environment;
  std::vector<int> fds;  // the child's to change: it has a table of its own
  // Written by the child: what failed, and whether it was still taking its descriptors then.
  volatile int failure = 0;
  volatile bool executing = false;
  pid_t in_use = 1;  // the kernel writes 0 when the child has executed or ended
  alignas(16) std::array<char, size_t{16} << 10> stack;
};

namespace {

using Memory = Startup::Memory;

[[noreturn]] void give_up(Memory& memory, bool executing) {
  memory.failure = errno;
  memory.executing = executing;
  ::_exit(127);
}

// Runs in the child, which has our memory until it executes while we go on: system calls only, and nothing is
// changed but its own. errno is ours as well, and only a call that fails sets it: then the start has failed.
int become(void* argument) {
  Memory& memory = *static_cast<Memory*>(argument);
  const auto count = static_cast<int>(memory.fds.size());
  // First above every number that is assigned to, so that no assignment overwrites a source.
  for (int& fd : memory.fds) {
    fd = ::fcntl(fd, F_DUPFD, count);
    if (fd < 0) give_up(memory, false);
  }
  for (int i = 0; i < count; ++i) ::dup2(memory.fds[static_cast<size_t>(i)], i);
  ::syscall(SYS_close_range, count, ~0U, 0);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(memory.program.c_str(), memory.argv.data(), memory.environment);
  give_up(memory, true);
}

// The kernel queues the child behind us even where another processor is idle, and it would run only once we
// wait. Forbidding it ours for a moment moves it; where that fails, it merely starts later.
void start_beside_us(pid_t child) {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return;
  cpu_set_t others = allowed;
  CPU_CLR(::sched_getcpu(), &others);
  if (::sched_setaffinity(child, sizeof others, &others) == 0)
    ::sched_setaffinity(child, sizeof allowed, &allowed);
}

// What failed, and what helps against that.
Error error_of(const Memory& memory) {
  const bool executing = memory.executing;
  const int number = memory.failure;
  const std::string& program = memory.program;
  Error error = system_error((executing ? "execute " : "hand descriptors to ") + program, number);
  const bool missing = number == ENOENT || number == EACCES || number == ENOEXEC;
  if (executing && missing)
    error.fix = program.substr(program.rfind('/') + 1) + " belongs beside cloche: build or install both";
  // EINVAL: the limit is below the first number that a descriptor could have.
  if (number == EMFILE || (!executing && number == EINVAL))
    error.fix = "raise the limit on open files (ulimit -n)";
  return error;
}

}  // namespace

Startup::Startup() = default;
Startup::Startup(std::unique_ptr<Memory> memory) : memory_(std::move(memory)) {}
Startup::Startup(Startup&&) noexcept = default;
Startup& Startup::operator=(Startup&&) noexcept = default;
Startup::~Startup() { (void)finish(); }

Result<void> Startup::finish() {
  if (!memory_) return {};
  const std::atomic_ref in_use(memory_->in_use);
  while (in_use.load() != 0) ::syscall(SYS_futex, &memory_->in_use, FUTEX_WAIT, 1, nullptr);
  const std::unique_ptr<Memory> memory = std::move(memory_);
  if (memory->failure != 0) return error_of(*memory);
  return {};
}

// The child shares our memory, because that costs the same however large this process is.
Result<Starting> begin_spawn(const OwnProcess&, const std::string& program,
                             std::vector<std::string> arguments, std::vector<int> fds,
                             char* const* environment) {
  auto memory = std::make_unique_for_overwrite<Memory>();
  memory->program = program;
  memory->arguments = std::move(arguments);
  for (auto& argument : memory->arguments) memory->argv.push_back(argument.data());
  memory->argv.push_back(nullptr);
  memory->environment = environment != nullptr ? environment : memory->nothing;
  memory->fds = std::move(fds);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // no handler of ours may run in the child
  int pidfd = -1;
  const pid_t pid = ::clone(become, memory->stack.data() + memory->stack.size(),
                            CLONE_VM | CLONE_PIDFD | CLONE_CHILD_CLEARTID | SIGCHLD, memory.get(), &pidfd,
                            nullptr, &memory->in_use);
  const int clone_error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return system_error("start " + program, clone_error);
  start_beside_us(pid);
  return Starting{{pid, OwnedFd(pidfd)}, Startup(std::move(memory))};
}

Result<Spawned> spawn(const OwnProcess& right, const std::string& program, std::vector<std::string> arguments,
                      std::vector<int> fds, char* const* environment) {
  Starting starting = TRY(begin_spawn(right, program, std::move(arguments), std::move(fds), environment));
  const auto started = starting.startup.finish();
  if (started.ok()) return std::move(starting.process);
  siginfo_t ended{};
  ::waitid(P_PIDFD, static_cast<id_t>(starting.process.pidfd.get()), &ended, WEXITED);
  return started.error();
}

}  // namespace cloche
