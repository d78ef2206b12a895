#include "store/workspace/task_home.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/scratch.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

class SessionHomes : public testing::Test {
 protected:
  std::string state() const { return scratch_.path + "/state"; }
  // But for the lock of those that start.
  std::vector<std::string> there() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(state() + "/sessions")) {
      const std::string name = entry.path().filename();
      if (name != lock_name) names.push_back(name);
    }
    return names;
  }
  Scratch scratch_;
};

TEST_F(SessionHomes, EachServerHasItsOwnWhichEndsWithIt) {
  {
    const auto one = SessionHome::make(state());
    const auto two = SessionHome::make(state());
    ASSERT_TRUE(one.ok() && two.ok());
    const auto first = one.value()->now();
    const auto second = two.value()->now();
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_NE(first.value().home, second.value().home);
    EXPECT_NE(first.value().tmp, second.value().tmp);
    struct stat seen {};
    ASSERT_EQ(::stat(first.value().home.c_str(), &seen), 0);
    EXPECT_EQ(seen.st_mode & 0777, 0700U);
    EXPECT_EQ(there().size(), 2U) << "the second start has left the first alone";
  }
  EXPECT_EQ(there().size(), 0U);
}

TEST_F(SessionHomes, WhatAKilledServerLeftGoesWithTheNextStart) {
  const pid_t killed = ::fork();
  if (killed == 0) {
    const auto left = SessionHome::make(state());
    const bool made = left.ok() && left.value()->now().ok();
    if (made) {
      std::ofstream(left.value()->now().value().home + "/file") << "x";
      ::chmod(left.value()->now().value().home.c_str(), 0);
    }
    ::_exit(made ? 0 : 1);  // no destructor runs
  }
  int status = 0;
  ASSERT_EQ(::waitpid(killed, &status, 0), killed);
  ASSERT_EQ(status, 0);
  ASSERT_EQ(there().size(), 1U);
  const std::string dead = there()[0];
  const auto next = SessionHome::make(state());
  ASSERT_TRUE(next.ok());
  ASSERT_EQ(there().size(), 1U);
  EXPECT_NE(there()[0], dead);
}

TEST_F(SessionHomes, StartingOverIsEmptyAndTheEarlierOneCanGo) {
  const auto session = SessionHome::make(state());
  ASSERT_TRUE(session.ok());
  const TaskHome first = session.value()->now().value();
  std::ofstream(first.home + "/file") << "x";
  session.value()->start_over();
  const TaskHome second = session.value()->now().value();
  EXPECT_TRUE(fs::is_empty(second.home));
  EXPECT_TRUE(fs::exists(first.home + "/file")) << "a call may still run there";
  session.value()->remove_earlier();
  EXPECT_FALSE(fs::exists(first.home));
  EXPECT_TRUE(fs::exists(second.home));
}

TEST_F(SessionHomes, WithoutAStateThereIsNone) { EXPECT_FALSE(SessionHome::make("").ok()); }

}  // namespace
}  // namespace cloche
