// The last steps of `first`: its terminal, its signals, and the command itself. An inner jail
// (jail/boxes/command_within.hpp) takes the same ones.
#pragma once

#include <signal.h>

#include "jail/core/wire.hpp"

namespace cloche::jail {

// A pseudo terminal from this device, of the size that the plan says. The master goes to the supervisor; the
// slave is returned.
int make_terminal(const wire::Plan& plan, const char* device);

// What the kernel sends an inner jail when its parent has died.
inline constexpr int parent_died = SIGPWR;
// The signals that the command's parent waits for.
sigset_t waited_for();
// Blocks them, before there is anything to wait for.
void prepare_signals();

// Of the process that becomes the command. A session of its own: its signals to "my group" reach no other
// process.
void begin_session(int terminal);

struct Failure {
  int number = 0;
  uint32_t index = 0;
};
// Like a shell: a missing program is passed over, one that may not be run is remembered and reported last.
Failure execute(const wire::Plan& plan);

void report_started(int root);
[[noreturn]] void report_not_executed(const Failure& failure);

// Whose the session of the command's terminal is. The kernel stops the command at Ctrl-Z only where its
// parent is in the same session and can continue it.
enum class Session { of_command, of_parent };

// Starts the command and says so; does not return when it cannot be executed. `root` is a descriptor of the
// view's root.
pid_t start_reported(const wire::Plan& plan, int terminal, int root, Session session = Session::of_command);

// Starts the command, reports when it is stopped and how it ended, and ends the sandbox with it. SIGTSTP from
// the supervisor, which is about to stop, stops everything in the sandbox, and SIGCONT continues it. What
// has itself continued meanwhile goes on, within its limits (confine/supervise/suspended_call.cpp).
[[noreturn]] void run_command(const wire::Plan& plan, int terminal, int root);

}  // namespace cloche::jail
