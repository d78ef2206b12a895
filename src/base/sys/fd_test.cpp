// Who closes a descriptor, and that it happens once: a second close could hit another owner's.
#include "base/sys/fd.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "base/sys/sys.hpp"

namespace cloche {
namespace {

int some_descriptor() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }
bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

TEST(OwnedFd, ClosesAtTheEndOfItsLife) {
  int number = -1;
  {
    const OwnedFd owned(some_descriptor());
    number = owned.get();
    EXPECT_TRUE(owned.valid());
    EXPECT_TRUE(static_cast<bool>(owned));
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(OwnedFd, DefaultOwnsNothing) {
  OwnedFd nothing;
  EXPECT_FALSE(nothing.valid());
  EXPECT_EQ(nothing.get(), -1);
  nothing.reset();
  EXPECT_EQ(nothing.release(), -1);
}

TEST(OwnedFd, MovedFromOwnsNothing) {
  OwnedFd first(some_descriptor());
  const int number = first.get();
  OwnedFd second(std::move(first));
  EXPECT_FALSE(first.valid());  // NOLINT(bugprone-use-after-move): that is the question
  EXPECT_EQ(second.get(), number);
  first.reset();
  EXPECT_TRUE(is_open(number));
}

TEST(OwnedFd, AssignmentClosesWhatWasHeldBefore) {
  OwnedFd held(some_descriptor());
  OwnedFd next(some_descriptor());
  const int before = held.get();
  const int after = next.get();
  held = std::move(next);
  EXPECT_FALSE(is_open(before));
  EXPECT_TRUE(is_open(after));
  EXPECT_EQ(held.get(), after);
}

TEST(OwnedFd, AssignmentToItselfKeepsIt) {
  OwnedFd held(some_descriptor());
  OwnedFd& same = held;
  held = std::move(same);
  EXPECT_TRUE(held.valid());
  EXPECT_TRUE(is_open(held.get()));
}

TEST(OwnedFd, ReleaseGivesItAway) {
  int number = -1;
  {
    OwnedFd owned(some_descriptor());
    number = owned.release();
    EXPECT_FALSE(owned.valid());
  }
  EXPECT_TRUE(is_open(number));
  const OwnedFd again(number);
}

// The number is given to another owner at once; a second close of ours would take it from them.
TEST(OwnedFd, ClosesOnlyOnce) {
  OwnedFd owned(some_descriptor());
  const int number = owned.get();
  owned.reset();
  const OwnedFd theirs(::fcntl(0, F_DUPFD_CLOEXEC, number));
  ASSERT_EQ(theirs.get(), number);
  owned.reset();
  { const OwnedFd moved(std::move(owned)); }
  EXPECT_TRUE(is_open(number));
}

TEST(Pipe, BothEndsAreCloseOnExec) {
  auto pipe = sys::make_pipe();
  ASSERT_TRUE(pipe.ok());
  EXPECT_EQ(::fcntl(pipe.value().read.get(), F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(::fcntl(pipe.value().write.get(), F_GETFD), FD_CLOEXEC);
}

}  // namespace
}  // namespace cloche
