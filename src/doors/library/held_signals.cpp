#include "doors/library/held_signals.hpp"

#include <ctime>

namespace cloche {

HeldPipeSignals::HeldPipeSignals() {
  sigset_t pending;
  ::sigemptyset(&pending);
  ::sigpending(&pending);
  ::sigemptyset(&held_);
  for (const int number : {SIGPIPE, SIGXFSZ}) {
    if (::sigismember(&pending, number) == 0)
      ::sigaddset(&held_, number);  // else it waits already, for others
  }
  ::pthread_sigmask(SIG_BLOCK, &held_, &before_);
}

HeldPipeSignals::~HeldPipeSignals() {
  const timespec at_once{};
  for (const int number : {SIGPIPE, SIGXFSZ}) {
    sigset_t one;
    ::sigemptyset(&one);
    ::sigaddset(&one, number);
    if (::sigismember(&held_, number) == 1) (void)::sigtimedwait(&one, nullptr, &at_once);
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

Result<void> judge_child_signal() {
  struct sigaction action {};
  if (::sigaction(SIGCHLD, nullptr, &action) != 0) return system_error("look at the action of SIGCHLD");
  const bool handled = (action.sa_flags & SA_SIGINFO) != 0;
  if ((handled || action.sa_handler != SIG_IGN) && (action.sa_flags & SA_NOCLDWAIT) == 0) return {};
  return refusal("this program ignores SIGCHLD, so the kernel would not say how a command ended",
                 "set SIGCHLD to SIG_DFL before a gateway is opened");
}

}  // namespace cloche
