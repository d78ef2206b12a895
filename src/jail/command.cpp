#include "jail/command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>

#include "jail/boxes/descendants.hpp"
#include "jail/boxes/warden.hpp"
#include "jail/core/kernel.hpp"
#include "jail/core/report.hpp"
#include "jail/lock.hpp"

namespace cloche::jail {
namespace {

using wire::ReportKind;
using wire::Step;

// Passed on to the command's process group; the supervisor sends them to `first`.
constexpr int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

sigset_t waited_for() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (int number : forwarded) sigaddset(&set, number);
  sigaddset(&set, parent_died);
  return set;
}

// Whatever the caller ignored or blocked must not be ignored or blocked in the command.
void reset_signals() {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) {
    if (number != SIGKILL && number != SIGSTOP) ::sigaction(number, &standard, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

struct Failure {
  int number = 0;
  uint32_t index = 0;
};

// Like a shell: a missing program is passed over, one that may not be run is remembered and reported last.
Failure execute(const wire::Plan& plan) {
  Failure failure{ENOENT, 0};
  for (uint32_t i = 0; i < plan.programs.size(); ++i) {
    ::execve(plan.programs[i], const_cast<char* const*>(plan.argv.data()),
             const_cast<char* const*>(plan.env.data()));
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    if (!missing) failure = {errno, i};
    if (!missing && errno != EACCES) return failure;
  }
  return failure;
}

// A session of its own: its signals to "my group" reach no other process.
void begin_session(int terminal) {
  ::setsid();
  if (terminal >= 0) {
    for (int fd = 0; fd < 3; ++fd) ::dup2(terminal, fd);
    ::ioctl(0, TIOCSCTTY, 0);
  }
  reset_signals();
}

[[noreturn]] void become_command(const wire::Plan& plan, int terminal, volatile Failure* failure) {
  begin_session(terminal);
  // Last before exec: whatever was open above stdio, by whomever, ends here.
  kernel::close_range(3, ~0U);
  const Failure why = execute(plan);
  failure->number = why.number;
  failure->index = why.index;
  ::_exit(127);
}

// The child borrows this process's memory until it has executed, so a failure is simply written down.
__attribute__((noinline)) pid_t start(const wire::Plan& plan, int terminal, volatile Failure* failure) {
  const pid_t child = ::vfork();
  if (child == 0) become_command(plan, terminal, failure);
  return child;
}

// The same for a command that is to have a warden. The filter is the child's alone, so that the warden can
// do what it forbids; the two have one table of descriptors until the listener is in it.
struct Asking {
  const wire::Plan& plan;
  int terminal = -1;
  int listener = -1;
  Failure failure = {};
  Step step = Step::landlock;  // the last one begun
  bool locked = false;
};

[[noreturn]] void give_up(Asking& asking) {
  asking.failure.number = errno;
  ::_exit(127);
}

int become_asking_command(void* given) {
  auto& asking = *static_cast<Asking*>(given);
  begin_session(asking.terminal);  // in the table of both; the other has no use for its first three
  asking.step = Step::landlock;
  if (asking.plan.landlock_abi != 0 && !leave_wardens_domain()) give_up(asking);
  asking.step = Step::seccomp;
  if (!filter_calls_asking(asking.plan, asking.listener)) give_up(asking);
  if (kernel::leave_descriptors(3) != 0) give_up(asking);
  asking.step = Step::limits;  // not before the listener is among the others' descriptors
  if (!set_commands_limits(asking.plan)) give_up(asking);
  asking.locked = true;
  asking.failure = execute(asking.plan);
  ::_exit(127);
}

pid_t start_asking(Asking& asking) {
  alignas(16) static char stack[size_t{64} << 10];
  return ::clone(become_asking_command, stack + sizeof stack, CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD,
                 &asking);
}

// Reaps until the command itself ends.
int wait_for(pid_t command) {
  const sigset_t set = waited_for();
  while (true) {
    int status = 0;
    for (pid_t ended = 1; ended > 0;) {
      ended = ::waitpid(-1, &status, WNOHANG);
      if (ended == command) return status;
    }
    const int number = ::sigwaitinfo(&set, nullptr);
    if (number > 0 && number != SIGCHLD) ::kill(-command, number);
  }
}

[[noreturn]] void report_not_executed(const Failure& failure) {
  send({.kind = ReportKind::not_executed, .number = failure.number, .index = failure.index});
  if (voice() == Voice::socket) ::_exit(0);
  ::_exit(failure.number == ENOENT || failure.number == ENOTDIR ? 127 : 126);
}

void report_started(int root) {
  for (int fd = 0; fd < 3; ++fd) ::close(fd);  // the command's alone from here on
  send_with({.kind = ReportKind::started}, root);
}

// Starts it and says so; does not return when it cannot be executed.
pid_t start_reported(const wire::Plan& plan, int terminal, int root) {
  volatile Failure failure;
  const pid_t command = start(plan, terminal, &failure);
  if (command < 0) fail(Step::start_command, errno);
  if (failure.number != 0) report_not_executed({failure.number, failure.index});
  if (terminal >= 0) ::close(terminal);
  report_started(root);
  return command;
}

pid_t start_asking_reported(const wire::Plan& plan, int terminal, int root, int& listener) {
  Asking asking{plan, terminal};
  const pid_t command = start_asking(asking);
  if (command < 0) fail(Step::start_command, errno);
  if (!asking.locked) fail(asking.step, asking.failure.number);
  if (asking.failure.number != 0) report_not_executed(asking.failure);
  if (terminal >= 0) ::close(terminal);
  report_started(root);
  listener = asking.listener;
  prepare_listener(listener);
  filter_warden();
  return command;
}

struct Ending {
  int status = 0;
  bool told = false;  // to end it all, by the supervisor or by the parent's death
};

// The kernel names the dying parent as the sender, or none where that one is outside of our namespace.
// Every process in the box can send the same signal, but none can take our parent away.
bool tells_of_death(const signalfd_siginfo& info, pid_t parent) {
  return info.ssi_code == SI_USER && (info.ssi_pid == 0 || kernel::getppid() != parent);
}

// False when this process is to end everything.
bool take_signal(int signals, pid_t command, pid_t parent) {
  signalfd_siginfo info{};
  if (::read(signals, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return true;
  const auto number = static_cast<int>(info.ssi_signo);
  if (number == parent_died) return !tells_of_death(info, parent);
  if (number != SIGCHLD) ::kill(-command, number);
  return true;
}

bool take_word(pid_t command) {
  char byte = 0;
  const ssize_t got = ::recv(wire::control_fd, &byte, 1, MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 1) ::kill(-command, byte);
  return got == 1;
}

Ending wait_within(pid_t command, int signals, int listener, pid_t parent) {
  pollfd events[3] = {{signals, POLLIN, 0},
                      {voice() == Voice::socket ? wire::control_fd : -1, POLLIN, 0},
                      {listener, POLLIN, 0}};
  while (true) {
    int status = 0;
    for (pid_t ended = 1; ended > 0;) {
      ended = ::waitpid(-1, &status, WNOHANG);
      if (ended == command) return {.status = status};
    }
    if (::poll(events, 3, -1) < 0) continue;
    if ((events[2].revents & POLLIN) != 0) {
      answer_one(listener);
    } else if (events[2].revents != 0) {
      events[2].fd = -1;  // no process is left that could ask
    }
    if (events[0].revents != 0 && !take_signal(signals, command, parent)) return {.told = true};
    if (events[1].revents != 0 && !take_word(command)) return {.told = true};
  }
}

}  // namespace

int exit_code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

int make_terminal(const wire::Plan& plan, const char* device) {
  const int master = must(::open(device, O_RDWR | O_NOCTTY | O_CLOEXEC), Step::terminal);
  const int unlocked = 0;
  must(::ioctl(master, TIOCSPTLCK, &unlocked), Step::terminal);
  const winsize size{static_cast<unsigned short>(plan.rows), static_cast<unsigned short>(plan.columns), 0, 0};
  must(::ioctl(master, TIOCSWINSZ, &size), Step::terminal);
  const int slave = must(::ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC), Step::terminal);
  send_with({.kind = ReportKind::terminal}, master);
  ::close(master);
  return slave;
}

void wait_for_size() {
  // A signal that comes first has no process to reach yet.
  for (char word = 0; word != SIGWINCH;) {
    if (::recv(wire::control_fd, &word, 1, 0) == 1 || errno == EINTR) continue;
    ::_exit(125);  // the supervisor is gone
  }
}

void prepare_signals() {
  const sigset_t set = waited_for();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
}

void run_command(const wire::Plan& plan, int terminal, int root) {
  const pid_t command = start_reported(plan, terminal, root);
  const int status = wait_for(command);
  send({.kind = ReportKind::ended, .status = status});
  ::_exit(0);
}

int open_signals() {
  const sigset_t set = waited_for();
  return must(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), Step::start_command);
}

void run_command_within(const wire::Plan& plan, int terminal, int root, int signals, pid_t parent) {
  int listener = -1;
  const pid_t command = plan.has(wire::alone) ? start_asking_reported(plan, terminal, root, listener)
                                              : start_reported(plan, terminal, root);
  const Ending ending = wait_within(command, signals, listener, parent);
  // Process 1 of a box takes everything along by ending.
  if (kernel::getpid() != 1) end_descendants();
  if (!ending.told) send({.kind = ReportKind::ended, .status = ending.status});
  ::_exit(ending.told ? 125 : exit_code_of(ending.status));
}

}  // namespace cloche::jail
