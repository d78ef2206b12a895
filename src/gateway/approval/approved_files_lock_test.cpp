// Which commands name files, so that nobody may change these while they run.
#include "gateway/approval/approved_files_lock.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/scratch.hpp"

namespace cloche {
namespace {

using Words = std::vector<std::string>;

TEST(LooksForFiles, ByTheLookOfAWord) {
  const std::pair<Words, bool> rows[] = {
      {{"bash", "./s.sh"}, true},
      {{"bash", "s.sh"}, true},
      {{"./tool"}, true},
      {{"node", "--require=./q.js"}, true},
      {{"awk", "-fp.awk"}, true},
      {{"/usr/bin/cat", "/w/sub/a"}, true},
      {{"python3", "-m", "pytest"}, true},
      {{"/usr/bin/python3.11", "-m", "pytest"}, true},
      {{"git", "push", "origin", "main"}, false},
      {{"git", "commit", "-m", "Say why. And how"}, false},
      {{"cat", "/etc/passwd", "../x", "."}, false},
      {{}, false},
  };
  for (const auto& [words, expected] : rows)
    EXPECT_EQ(looks_for_files({words, {"/w"}}), expected) << (words.empty() ? "" : words.back());
}

class HeldFiles : public testing::Test {
 protected:
  HeldFiles() {
    plan.view.push_back(
        {.kind = EntryKind::tree, .access = Access::write_run, .target = "/w", .source = "/w"});
  }
  ApprovedFilesLock held_for(const Words& words) { return {state, plan, {words, {"/w", ""}}, {}}; }
  bool others_may_run() const { return lock_workspaces(state, {.changes = {"/w"}}, {}).ok(); }

  Scratch scratch;
  std::string state = scratch.path + "/state";
  ConfinementPlan plan;
};

TEST_F(HeldFiles, UntilTheCommandHasEnded) {
  ApprovedFilesLock held = held_for({"bash", "s.sh"});
  ASSERT_TRUE(held.check().ok());
  EXPECT_TRUE(others_may_run());
  ASSERT_TRUE(held.hold().ok());
  {
    const OwnedFd turn = held.take();
    EXPECT_FALSE(others_may_run());
  }
  EXPECT_TRUE(others_may_run());
}

TEST_F(HeldFiles, NotWhereAnotherCallIsAtWork) {
  const auto other = lock_workspaces(state, {.changes = {"/w"}}, {});
  ApprovedFilesLock held = held_for({"bash", "s.sh"});
  EXPECT_FALSE(held.check().ok());
  EXPECT_FALSE(held.hold().ok());
}

TEST_F(HeldFiles, OnlyWhereFilesAreNamed) {
  ApprovedFilesLock held = held_for({"git", "push"});
  ASSERT_TRUE(held.hold().ok());
  EXPECT_FALSE(held.take());
  held.found_some();  // there is a file "push"
  ASSERT_TRUE(held.hold().ok());
  EXPECT_TRUE(held.take());
}

}  // namespace
}  // namespace cloche
