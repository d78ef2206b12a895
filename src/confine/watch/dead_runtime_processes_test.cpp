// A child that has one of its own, dead or alive, and waits for it or does not.
#include "confine/watch/watch.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys/sys.hpp"

namespace cloche {
namespace {

constexpr int looks = 20;

// The child of a child, both gone with it.
class Family {
 public:
  enum class Grandchild { lives, is_left_dead, is_waited_for };

  explicit Family(Grandchild grandchild) {
    Pipe ready = sys::make_pipe().value();
    child_ = ::fork();
    if (child_ == 0) {
      const pid_t own = ::fork();
      if (own == 0 && grandchild == Grandchild::lives) ::pause();
      if (own == 0) ::_exit(0);
      siginfo_t ended{};
      const int waited = grandchild == Grandchild::is_waited_for ? WEXITED : WEXITED | WNOWAIT;
      if (grandchild != Grandchild::lives) ::waitid(P_PID, static_cast<id_t>(own), &ended, waited);
      (void)::write(ready.write.get(), &own, sizeof own);
      ::pause();
      ::_exit(0);
    }
    (void)::read(ready.read.get(), &grandchild_, sizeof grandchild_);
    lives_ = grandchild == Grandchild::lives;
  }
  ~Family() {
    if (lives_) ::kill(grandchild_, SIGKILL);
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;

 private:
  pid_t child_ = -1;
  pid_t grandchild_ = -1;
  bool lives_ = false;
};

// In which of many looks, half a second apart, it is said; 0: in none.
int said_in_look() {
  const OwnedFd proc = sys::open("/proc", O_RDONLY | O_DIRECTORY).value();
  const ProcessTable table(proc.get(), ::getpid(), Processes::of_runtime);
  DeadRuntimeProcesses parts;
  for (int look = 1; look <= looks; ++look) {
    const auto now = static_cast<uint64_t>(look) * 500;
    if (parts.remain(table, now)) return look;
    EXPECT_FALSE(parts.remain(table, now + 1)) << "too soon for another look";
  }
  return 0;
}

TEST(DeadRuntimeProcesses, SayNothingOfARuntimeThatLives) {
  const Family family(Family::Grandchild::lives);
  EXPECT_EQ(said_in_look(), 0);
}

TEST(DeadRuntimeProcesses, SayNothingOfWhoWasWaitedFor) {
  const Family family(Family::Grandchild::is_waited_for);
  EXPECT_EQ(said_in_look(), 0);
}

TEST(DeadRuntimeProcesses, AreSaidAfterSomeLooks) {
  const Family family(Family::Grandchild::is_left_dead);
  EXPECT_EQ(said_in_look(), 15);
}

TEST(DeadRuntimeProcesses, TheKeeperWaitsForItsOwnAtTheEnd) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
  EXPECT_EQ(said_in_look(), 0);
  ::waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace cloche
