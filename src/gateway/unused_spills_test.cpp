#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gateway/gateway.hpp"

namespace cloche {
namespace {

uint64_t inode_of(const OwnedFd& file) {
  struct stat seen {};
  EXPECT_EQ(::fstat(file.get(), &seen), 0);
  return seen.st_ino;
}

TEST(UnusedSpills, OnlyOnesThatNothingWasWrittenToAreTakenAgain) {
  UnusedSpills spills;
  Spilled first = spills.take("/tmp");
  ASSERT_TRUE(first.output && first.errors);
  const uint64_t inode = inode_of(first.output);
  spills.give_back(std::move(first));
  Spilled again = spills.take("/tmp");
  EXPECT_EQ(inode_of(again.output), inode);
  const Spilled beside = spills.take("/tmp");
  EXPECT_NE(inode_of(beside.output), inode) << "another call has that one";
  ASSERT_EQ(::write(again.errors.get(), "x", 1), 1);
  const int number = again.errors.get();
  spills.give_back(std::move(again));
  EXPECT_EQ(::fcntl(number, F_GETFD), -1) << "it is closed, and its text with it";
  struct stat seen {};
  const Spilled fresh = spills.take("/tmp");
  ASSERT_EQ(::fstat(fresh.errors.get(), &seen), 0);
  EXPECT_EQ(seen.st_size, 0);
}

TEST(UnusedSpills, WithoutAPlaceThereAreNone) {
  UnusedSpills spills;
  EXPECT_FALSE(spills.take("").output);
  spills.give_back({});
  EXPECT_FALSE(spills.take("").errors);
}

}  // namespace
}  // namespace cloche
