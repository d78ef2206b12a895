#include "jail/boxes/command_within.hpp"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "jail/boxes/descendants.hpp"
#include "jail/boxes/warden.hpp"
#include "jail/boxes/warden_lock.hpp"
#include "jail/core/command.hpp"
#include "jail/core/kernel.hpp"
#include "jail/core/report.hpp"

namespace cloche::jail {
namespace {

using wire::ReportKind;
using wire::Step;

// The start of a command that is to have a warden. The filter is the child's alone, so that the warden can do
// what it forbids; the two have one table of descriptors until the listener is in it.
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
  if (asking.plan.landlock_abi != 0 && !leave_wardens_domain(asking.plan.landlock_abi)) give_up(asking);
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
  // As process 1 of a box: one from inside names its sender, and is about this process, not the command.
  const bool is_from_inside = kernel::getpid() == 1 && info.ssi_pid != 0;
  if (number != SIGCHLD && !is_from_inside) ::kill(-command, number);
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
                      {report_way() == ReportWay::socket ? wire::control_fd : -1, POLLIN, 0},
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

void wait_for_size() {
  // A signal that comes first has no process to reach yet.
  for (char word = 0; word != SIGWINCH;) {
    if (::recv(wire::control_fd, &word, 1, 0) == 1 || errno == EINTR) continue;
    ::_exit(125);  // the supervisor is gone
  }
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
