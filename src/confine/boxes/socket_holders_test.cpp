#include "confine/boxes/socket_holders.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "base/sys/fd.hpp"

namespace cloche {
namespace {

// A child with both ends of the pair, or none.
pid_t start_child(const OwnedFd& one, const OwnedFd& other, bool holds) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  if (!holds) {
    ::close(one.get());
    ::close(other.get());
  }
  while (true) ::pause();
}

TEST(Holders, WhoHasTheSocketIsEndedAndNobodyElse) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  const OwnedFd one(ends[0]);
  const OwnedFd other(ends[1]);
  const pid_t holder = start_child(one, other, true);
  const pid_t without = start_child(one, other, false);
  struct stat seen {};
  ASSERT_EQ(::fstat(other.get(), &seen), 0);
  // Until then it would be found as well.
  const std::string held = "/proc/" + std::to_string(without) + "/fd/" + std::to_string(other.get());
  for (int tries = 0; tries < 1000 && ::access(held.c_str(), F_OK) == 0; ++tries) ::usleep(10'000);
  end_holders(seen.st_ino);
  int status = 0;
  ASSERT_EQ(::waitpid(holder, &status, 0), holder);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_EQ(::waitpid(without, &status, WNOHANG), 0);
  ::kill(without, SIGKILL);
  ::waitpid(without, &status, 0);
}

}  // namespace
}  // namespace cloche
