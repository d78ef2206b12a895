// A supervised command that is suspended: by the user's key, with Cloche itself, which its shell sees stop.
//
// Theory of operation. The first process of the sandbox stops everything in it by SIGSTOP. A process in there
// can have itself continued (by a timer of its own, or by one that was just then about to continue it), so
// the limits are watched on: before Cloche stops, it makes a copy of itself that is not of its process group,
// and that does nothing but look at the limits and, when one is met, end everything. The copy writes down
// which one it was, and Cloche reads that when it goes on. The kernel ends the copy with Cloche.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "confine/supervise/supervised_call.hpp"

namespace cloche {
namespace {

constexpr uint64_t between_looks_ms = 50;

// One write: the limit's number, then what was seen.
void tell(int way, const LimitHit& hit) {
  std::string told(1, static_cast<char>(hit.limit));
  told += hit.what;
  (void)sys::write_all(way, told);
}

std::optional<LimitHit> told_by(int way) {
  std::array<char, 512> told;
  const ssize_t got = ::read(way, told.data(), told.size());
  if (got < 1) return std::nullopt;
  return LimitHit{static_cast<LimitId>(told[0]), {told.data() + 1, static_cast<size_t>(got - 1)}};
}

}  // namespace

// The command has stopped on its terminal.
void SupervisedCall::command_stopped() {
  if (suspend_key_.explains_stop(now_ms_)) return suspend(Stop::group);
  command_has_stopped_ = true;
  if (said_that_it_stopped_ || !can_speak()) return;
  said_that_it_stopped_ = true;
  speak(
      "cloche: note: the command has stopped itself; Ctrl-Z suspends it, then fg continues it; Ctrl-C three "
      "times ends it");
}

// The clock of the time limit goes on.
void SupervisedCall::suspend(Stop what) {
  if (!control_ || end_ms_ != 0 || gone_) return;
  pass_on(SIGTSTP);
  raw_terminal_.leave();
  const auto hit = stop_watched(what);
  raw_terminal_.enter();
  if (master_) copy_window_size(streams_.terminal, master_.get());
  command_has_stopped_ = false;
  now_ms_ = sys::monotonic_ms();
  hit ? stop_for(*hit) : pass_on(SIGCONT);
}

std::optional<LimitHit> SupervisedCall::stop_watched(Stop what) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return std::nullopt;
  const OwnedFd from(ends[0]);
  const OwnedFd to(ends[1]);
  const pid_t self = ::getpid();
  const pid_t copy = ::fork();
  if (copy == 0) watch_for(self, to.get());
  if (copy < 0) return std::nullopt;  // unwatched it must not be: it goes on
  stop_until_continued(what);
  ::kill(copy, SIGKILL);
  ::waitpid(copy, nullptr, 0);
  return told_by(from.get());
}

void SupervisedCall::watch_for(pid_t stopped, int way) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != stopped) ::_exit(0);
  pollfd end{control_.get(), 0, 0};
  while (::poll(&end, 1, between_looks_ms) == 0) {
    now_ms_ = sys::monotonic_ms();
    std::optional<LimitHit> hit;
    if (now_ms_ >= deadline_ms_) hit = LimitHit{LimitId::wall, {}};
    if (!hit && is_watched() && now_ms_ >= watch_.next_check_ms()) hit = watch_.check(now_ms_);
    if (!hit && now_ms_ < grace_deadline_ms_) continue;
    if (hit) tell(way, *hit);
    end_everything();
    break;
  }
  ::_exit(0);
}

}  // namespace cloche
