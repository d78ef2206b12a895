#include "gateway/throwaway.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace cloche {
namespace {

namespace fs = std::filesystem;

// A purpose of this test process alone.
std::string purpose() { return "test-" + std::to_string(::getpid()); }

TEST(Throwaway, IsEmptyAndGoneAfterwards) {
  std::string path;
  {
    const Throwaway place(purpose());
    path = place.path();
    ASSERT_TRUE(fs::is_directory(path));
    EXPECT_TRUE(fs::is_empty(path));
    std::ofstream(path + "/file") << "text";
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(Throwaway, OneThatIsInUseIsLeftAlone) {
  const Throwaway first(purpose());
  const Throwaway second(purpose());
  EXPECT_NE(first.path(), second.path());
  EXPECT_TRUE(fs::exists(first.path()));
}

TEST(Throwaway, WhatAKilledProcessLeftGoesWithTheNext) {
  const std::string same = purpose();
  int said[2];
  ASSERT_EQ(::pipe(said), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const Throwaway place(same);
    std::ofstream(place.path() + "/file") << "text";
    (void)!::write(said[1], place.path().c_str(), place.path().size());
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  char path[256] = {};
  ASSERT_GT(::read(said[0], path, sizeof path - 1), 0);
  ::close(said[0]);
  ::close(said[1]);
  EXPECT_TRUE(fs::exists(path)) << "nobody was left to remove it";
  const Throwaway next(same);
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace cloche
