#include "jail/core/command.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>

#include "jail/core/kernel.hpp"
#include "jail/core/report.hpp"

namespace cloche::jail {
namespace {

using wire::ReportKind;
using wire::Step;

// Passed on to the command's process group; the supervisor sends them to `first`.
constexpr int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

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

}  // namespace

sigset_t waited_for() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (int number : forwarded) sigaddset(&set, number);
  sigaddset(&set, parent_died);
  return set;
}

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

void begin_session(int terminal) {
  ::setsid();
  if (terminal >= 0) {
    for (int fd = 0; fd < 3; ++fd) ::dup2(terminal, fd);
    ::ioctl(0, TIOCSCTTY, 0);
  }
  reset_signals();
}

namespace {

// Of the command, on the terminal of its parent's session: the group that has its keys.
void take_foreground(int terminal) {
  sigset_t background;
  sigemptyset(&background);
  sigaddset(&background, SIGTTOU);
  ::sigprocmask(SIG_BLOCK, &background, nullptr);  // else the kernel stops a group that is not yet in front
  ::syscall(SYS_setpgid, 0, 0);
  const pid_t group = kernel::getpid();
  for (int fd = 0; fd < 3; ++fd) ::dup2(terminal, fd);
  ::ioctl(0, TIOCSPGRP, &group);
  reset_signals();
}

[[noreturn]] void become_command(const wire::Plan& plan, int terminal, Session session,
                                 volatile Failure* failure) {
  session == Session::of_parent ? take_foreground(terminal) : begin_session(terminal);
  // Last before exec: whatever was open above stdio ends here.
  kernel::close_range(3, ~0U);
  const Failure why = execute(plan);
  failure->number = why.number;
  failure->index = why.index;
  ::_exit(127);
}

// The child borrows this process's memory until it has executed, so a failure is simply written down.
__attribute__((noinline)) pid_t start(const wire::Plan& plan, int terminal, Session session,
                                      volatile Failure* failure) {
  const pid_t child = ::vfork();
  if (child == 0) become_command(plan, terminal, session, failure);
  return child;
}

// With those by which the supervisor has everything stop while it is stopped itself.
sigset_t heeded() {
  sigset_t set = waited_for();
  sigaddset(&set, SIGTSTP);
  sigaddset(&set, SIGCONT);
  return set;
}

// Reaps until the command itself ends. On a terminal its stops are reported, but for those that were ordered.
int wait_for(pid_t command, bool on_terminal) {
  const sigset_t set = heeded();
  bool holds_still = false;
  while (true) {
    int status = 0;
    for (pid_t ended = 1; ended > 0;) {
      ended = ::waitpid(-1, &status, WNOHANG | (on_terminal ? WUNTRACED : 0));
      if (ended != command) continue;
      if (!WIFSTOPPED(status)) return status;
      if (!holds_still) send({.kind = ReportKind::stopped});
    }
    siginfo_t info;
    const int number = ::sigwaitinfo(&set, &info);
    // One from inside names its sender: it is about process 1, which ends with the command alone.
    const bool is_from_inside = number > 0 && info.si_pid != 0;
    if (number <= 0 || number == SIGCHLD || is_from_inside) continue;
    if (number != SIGTSTP && number != SIGCONT) {
      ::kill(-command, number);
      continue;
    }
    // Not by SIGTSTP, which the command may ignore. Everything that it started as well.
    holds_still = number == SIGTSTP;
    ::kill(-1, holds_still ? SIGSTOP : SIGCONT);
  }
}

}  // namespace

void report_not_executed(const Failure& failure) {
  send({.kind = ReportKind::not_executed, .number = failure.number, .index = failure.index});
  if (report_way() == ReportWay::socket) ::_exit(0);
  ::_exit(failure.number == ENOENT || failure.number == ENOTDIR ? 127 : 126);
}

void report_started(int root) {
  for (int fd = 0; fd < 3; ++fd) ::close(fd);  // the command's alone from here on
  send_with({.kind = ReportKind::started}, root);
}

pid_t start_reported(const wire::Plan& plan, int terminal, int root, Session session) {
  volatile Failure failure;
  const pid_t command = start(plan, terminal, session, &failure);
  if (command < 0) fail(Step::start_command, errno);
  if (failure.number != 0) report_not_executed({failure.number, failure.index});
  if (terminal >= 0) ::close(terminal);
  report_started(root);
  return command;
}

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

void prepare_signals() {
  const sigset_t set = heeded();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
}

void run_command(const wire::Plan& plan, int terminal, int root) {
  const bool on_terminal = terminal >= 0;
  if (on_terminal) {
    must(static_cast<int>(::setsid()), Step::terminal);
    must(::ioctl(terminal, TIOCSCTTY, 0), Step::terminal);
  }
  const pid_t command =
      start_reported(plan, terminal, root, on_terminal ? Session::of_parent : Session::of_command);
  const int status = wait_for(command, on_terminal);
  send({.kind = ReportKind::ended, .status = status});
  ::_exit(0);
}

}  // namespace cloche::jail
