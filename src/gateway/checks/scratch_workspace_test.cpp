#include "gateway/checks/scratch_workspace.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/scratch.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

// A purpose of this test process alone.
std::string purpose() { return "test-" + std::to_string(::getpid()); }

char* nothing[] = {nullptr};
const Environment environment(nothing);

TEST(ScratchWorkspace, IsWhereOneCanWriteOnAHostThatIsReadOnly) {
  struct Row {
    std::vector<std::string> said;
    bool root;
    std::vector<std::string> parents;
  };
  const Row rows[] = {
      {{}, false, {"/var/tmp", "/tmp", "/dev/shm"}},
      {{}, true, {"/var/tmp", "/tmp", "/run", "/dev/shm"}},
      {{"TMPDIR=/scratch", "XDG_RUNTIME_DIR=/run/user/1000"},
       false,
       {"/var/tmp", "/tmp", "/scratch", "/run/user/1000", "/dev/shm"}},
      {{"TMPDIR=scratch", "XDG_RUNTIME_DIR=/"}, false, {"/var/tmp", "/tmp", "/dev/shm"}},
  };
  for (Row row : rows) {
    std::vector<char*> block;
    for (auto& word : row.said) block.push_back(word.data());
    block.push_back(nullptr);
    EXPECT_EQ(scratch_parents(Environment(block.data()), row.root), row.parents);
  }
}

TEST(ScratchWorkspace, IsEmptyAndGoneAfterwards) {
  std::string path;
  {
    const ScratchWorkspace place(purpose(), environment, "");
    path = place.path();
    ASSERT_TRUE(fs::is_directory(path));
    EXPECT_TRUE(fs::is_empty(path));
    std::ofstream(path + "/file") << "text";
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(ScratchWorkspace, OneThatIsInUseIsLeftAlone) {
  const ScratchWorkspace first(purpose(), environment, "");
  const ScratchWorkspace second(purpose(), environment, "");
  EXPECT_NE(first.path(), second.path());
  EXPECT_TRUE(fs::exists(first.path()));
}

// Where it was.
std::string left_by_a_killed_process(const std::string& state) {
  int said[2];
  EXPECT_EQ(::pipe(said), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const ScratchWorkspace place(purpose(), environment, state);
    std::ofstream(place.path() + "/file") << "text";
    (void)!::write(said[1], place.path().c_str(), place.path().size());
    ::kill(::getpid(), SIGKILL);
  }
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  char path[256] = {};
  EXPECT_GT(::read(said[0], path, sizeof path - 1), 0);
  ::close(said[0]);
  ::close(said[1]);
  EXPECT_TRUE(fs::exists(path)) << "no process was left to remove it";
  return path;
}

TEST(ScratchWorkspace, WhatAKilledProcessLeftGoesWithTheNext) {
  const std::string left = left_by_a_killed_process("");
  const ScratchWorkspace next("another-" + purpose(), environment, "");
  EXPECT_FALSE(fs::exists(left));
}

TEST(ScratchWorkspace, WhatAKilledProcessLeftGoesWithAnyCall) {
  const Scratch scratch;
  const fs::path notes = scratch.path + "/tried";
  const std::string left = left_by_a_killed_process(scratch.path);
  EXPECT_FALSE(fs::is_empty(notes));
  clear_scratch(scratch.path);
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::is_empty(notes));
}

TEST(ScratchWorkspace, ACallLeavesAloneWhatIsInUse) {
  const Scratch scratch;
  const fs::path notes = scratch.path + "/tried";
  {
    const ScratchWorkspace used(purpose(), environment, scratch.path);
    clear_scratch(scratch.path);
    EXPECT_TRUE(fs::exists(used.path()));
    EXPECT_FALSE(fs::is_empty(notes));
  }
  EXPECT_TRUE(fs::is_empty(notes));
}

// Another process has removed it, or the host was started anew.
TEST(ScratchWorkspace, ANoteOfWhatIsGoneGoes) {
  const Scratch scratch;
  fs::remove_all(left_by_a_killed_process(scratch.path));
  clear_scratch(scratch.path);
  EXPECT_TRUE(fs::is_empty(scratch.path + "/tried"));
  clear_scratch("");
}

}  // namespace
}  // namespace cloche
