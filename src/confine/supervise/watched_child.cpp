#include "confine/supervise/watched_child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys/sys.hpp"
#include "confine/supervise/spawn.hpp"

namespace cloche {
namespace {

using How = WatchedEnd::How;

constexpr int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM};

// From here on they are read instead of ending us: a watcher that dies has answered for nothing.
OwnedFd hold_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : ending_signals) sigaddset(&set, number);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  return OwnedFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

class Watch {
 public:
  Watch(Spawned child, OwnedFd output, OwnedFd signals, const WatchedProgram& program)
      : child_(std::move(child)),
        output_(std::move(output)),
        signals_(std::move(signals)),
        program_(program) {}

  WatchedEnd run() {
    while (true) {
      const uint64_t now = sys::monotonic_ms();
      if (now >= program_.deadline_ms) return kill(How::too_late);
      pollfd ready[] = {
          {output_.get(), POLLIN, 0}, {child_.pidfd.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}};
      const int wait_ms = static_cast<int>(std::min<uint64_t>(program_.deadline_ms - now, 60'000));
      if (::poll(ready, 3, wait_ms) < 0 && errno != EINTR) return kill(How::too_late);
      if (ready[2].revents != 0) return kill(How::interrupted);
      if (ready[0].revents != 0 && !read_some()) return kill(How::too_long);
      if (ready[1].revents != 0) return finish();
    }
  }

 private:
  // Everything that is there now; false when it is too much.
  bool read_some() {
    char buffer[4096];
    ssize_t got = 0;
    while ((got = ::read(output_.get(), buffer, sizeof buffer)) > 0) {
      if (end_.output.size() + static_cast<size_t>(got) > program_.most_output) return false;
      end_.output.append(buffer, static_cast<size_t>(got));
    }
    if (got == 0) output_.reset();  // poll passes over what is closed
    return true;
  }

  WatchedEnd finish() {
    if (output_ && !read_some()) return kill(How::too_long);
    siginfo_t ended{};
    ::waitid(P_PID, static_cast<id_t>(child_.pid), &ended, WEXITED);
    end_.how = ended.si_code == CLD_EXITED ? How::exited : How::killed;
    end_.number = ended.si_status;
    return std::move(end_);
  }

  WatchedEnd kill(How why) {
    ::syscall(SYS_pidfd_send_signal, child_.pidfd.get(), SIGKILL, nullptr, 0);
    siginfo_t ended{};
    ::waitid(P_PID, static_cast<id_t>(child_.pid), &ended, WEXITED);
    return {.how = why, .number = SIGKILL};
  }

  Spawned child_;
  OwnedFd output_;
  OwnedFd signals_;
  const WatchedProgram& program_;
  WatchedEnd end_;
};

}  // namespace

Result<WatchedEnd> run_watched(const WatchedProgram& program) {
  OwnedFd signals;
  OwnedFd null;
  const bool tied = program.ties == WatchedProgram::Ties::callers;
  if (tied) {
    signals = hold_signals();
    if (!signals) return system_error("watch for signals");
  } else {
    null = OwnedFd(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!null) return system_error("open /dev/null");
  }
  Pipe pipe = TRY(sys::make_pipe());
  if (::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK) != 0) return system_error("set up a pipe");
  Spawned child =
      TRY(spawn(hook_judge(), program.path, program.arguments,
                {tied ? 0 : null.get(), pipe.write.get(), tied ? 2 : null.get()}, program.environment));
  pipe.write.reset();
  return Watch(std::move(child), std::move(pipe.read), std::move(signals), program).run();
}

}  // namespace cloche
