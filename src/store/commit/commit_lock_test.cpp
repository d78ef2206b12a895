#include "store/commit/commit_lock.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <future>

#include "base/scratch.hpp"

namespace cloche {
namespace {

using Locks = Result<std::vector<OwnedFd>>;

class CommitLock : public testing::Test {
 protected:
  Locks lock(const std::string& path) const {
    const std::string whole = scratch_.path + "/" + path;
    std::filesystem::create_directories(whole);
    struct stat seen {};
    EXPECT_EQ(::stat(whole.c_str(), &seen), 0);
    return lock_commits(scratch_.path + "/state", {{whole, seen.st_dev, seen.st_ino}});
  }
  // Whether another commit, in `second`, waits for the end of one in `first`.
  bool excludes(const std::string& first, const std::string& second) const {
    auto held = lock(first);
    EXPECT_TRUE(held.ok());
    std::future<Locks> other = std::async(std::launch::async, [&] { return lock(second); });
    const bool waits = other.wait_for(std::chrono::milliseconds(300)) == std::future_status::timeout;
    held.value().clear();
    EXPECT_TRUE(other.get().ok()) << first << " " << second;
    return waits;
  }

  Scratch scratch_;
};

TEST_F(CommitLock, ATreeAndOneWithinItExcludeEachOther) {
  EXPECT_TRUE(excludes("a", "a"));
  EXPECT_TRUE(excludes("a", "a/b/c"));
  EXPECT_TRUE(excludes("a/b/c", "a"));
}

TEST_F(CommitLock, TreesBesideEachOtherDoNot) {
  EXPECT_FALSE(excludes("a/b", "a/c"));
  EXPECT_FALSE(excludes("a/b/c", "a/d"));
}

}  // namespace
}  // namespace cloche
