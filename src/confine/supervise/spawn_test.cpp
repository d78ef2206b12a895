#include "confine/supervise/spawn.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>

#include "base/sys/sys.hpp"

namespace cloche {
namespace {

int exit_code_of(const Spawned& process) {
  siginfo_t ended{};
  EXPECT_EQ(::waitid(P_PIDFD, static_cast<id_t>(process.pidfd.get()), &ended, WEXITED), 0);
  return ended.si_code == CLD_EXITED ? ended.si_status : -1;
}

TEST(Spawn, HandsOverWordsAndDescriptorsAndNothingElse) {
  Pipe pipe = sys::make_pipe().value();
  auto starting = begin_spawn(waiting_jail(), "/bin/sh",
                              {"sh", "-c", "echo $0 $HOME; [ ! -e /proc/self/fd/3 ] && exit 7", "word"},
                              {pipe.read.get(), pipe.write.get(), pipe.write.get()});
  ASSERT_TRUE(starting.ok());
  EXPECT_TRUE(starting.value().startup.finish().ok());
  EXPECT_TRUE(starting.value().startup.finish().ok()) << "once more";
  EXPECT_EQ(exit_code_of(starting.value().process), 7);
  pipe.write.reset();
  EXPECT_EQ(sys::read_all(pipe.read.get(), 100).value(), "word\n");
}

TEST(Spawn, SaysWhatCouldNotBeExecuted) {
  auto starting = begin_spawn(waiting_jail(), "/nowhere/cloche-jail", {"cloche-jail"}, {0, 1, 2});
  ASSERT_TRUE(starting.ok());
  const auto finished = starting.value().startup.finish();
  ASSERT_FALSE(finished.ok());
  EXPECT_EQ(finished.error().number, ENOENT);
  EXPECT_NE(describe(finished.error()).find("execute /nowhere/cloche-jail"), std::string::npos);
  EXPECT_EQ(exit_code_of(starting.value().process), 127);
  const auto spawned = spawn(waiting_jail(), "/nowhere/cloche-jail", {"cloche-jail"}, {0, 1, 2});
  ASSERT_FALSE(spawned.ok());
  EXPECT_LE(::waitpid(-1, nullptr, WNOHANG), 0) << "it was not waited for";
}

// The child uses what it is given until it has executed: the end of that waits for it.
TEST(Spawn, WhatIsDroppedAtOnceStillExecutes) {
  Spawned process = [] {
    auto starting = begin_spawn(waiting_jail(), "/bin/sh", {"sh", "-c", "exit 5"}, {0, 1, 2});
    return std::move(starting.value().process);
  }();
  EXPECT_EQ(exit_code_of(process), 5);
}

}  // namespace
}  // namespace cloche
