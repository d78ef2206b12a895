// Which calls wait for which: what one may change, and where another is alone.
#include "store/workspace/workspace_lock.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <filesystem>

#include "base/scratch.hpp"

namespace cloche {
namespace {

class WorkspaceLock : public testing::Test {
 protected:
  Result<OwnedFd> take(const WorkspaceClaim& claim, uint64_t most_ms = 0) const {
    return lock_workspaces(state, claim, {.most_ms = most_ms});
  }
  Scratch scratch;
  std::string state = scratch.path + "/state";
};

const WorkspaceClaim changes_work{.changes = {"/w"}};
const WorkspaceClaim changes_below{.changes = {"/w/sub/deep"}};
const WorkspaceClaim changes_all{.changes = {"/"}};
const WorkspaceClaim changes_else{.changes = {"/v", "/wide"}};
const WorkspaceClaim changes_both{.changes = {"/v", "/w"}};
const WorkspaceClaim alone_in_work{.changes = {"/w"}, .alone = {"/w"}};
const WorkspaceClaim alone_below{.changes = {"/w/sub"}, .alone = {"/w/sub"}};
const WorkspaceClaim alone_else{.changes = {"/v"}, .alone = {"/v"}};
const WorkspaceClaim alone_in_code{.changes = {}, .alone = {"/w", "/code/tool"}};

TEST_F(WorkspaceLock, ACallWaitsWhereOneMayChangeWhatTheOtherHasAlone) {
  struct Row {
    const char* what;
    WorkspaceClaim one;
    WorkspaceClaim other;
    bool together;
  };
  const Row rows[] = {
      {"changes beside changes", changes_work, changes_work, true},
      {"changes above changes", changes_all, changes_below, true},
      {"the same tree", alone_in_work, changes_work, false},
      {"one of two trees", alone_in_work, changes_both, false},
      {"a tree below", alone_in_work, changes_below, false},
      {"a tree above", alone_below, changes_work, false},
      {"everything", alone_below, changes_all, false},
      {"another tree", alone_in_work, changes_else, true},
      {"alone twice", alone_in_work, alone_in_work, false},
      {"alone above and below", alone_in_work, alone_below, false},
      {"alone elsewhere", alone_in_work, alone_else, true},
      {"alone where nothing is changed", alone_in_code, changes_work, false},
      {"alone in the second", alone_in_code, {.changes = {"/code"}}, false},
      {"changes nothing", alone_in_work, {}, true},
  };
  for (const auto& row : rows) {
    for (const bool swapped : {false, true}) {
      const auto first = take(swapped ? row.other : row.one);
      ASSERT_TRUE(first.ok()) << row.what;
      EXPECT_EQ(take(swapped ? row.one : row.other).ok(), row.together) << row.what << swapped;
    }
  }
}

TEST_F(WorkspaceLock, ItEndsWithItsHolder) {
  { const auto held = take(alone_in_work); }
  EXPECT_TRUE(take(changes_work).ok());
}

TEST_F(WorkspaceLock, AWaitingCallIsToldWhyAndCanBeCancelled) {
  const auto held = take(alone_in_work);
  std::vector<std::string> said;
  const auto late = lock_workspaces(
      state, changes_work, {.most_ms = 1200, .waits = [&](std::string_view why) { said.emplace_back(why); }});
  ASSERT_FALSE(late.ok());
  EXPECT_NE(late.error().what.text().find("an approved call runs"), std::string::npos);
  EXPECT_EQ(said.size(), 1U);
  const OwnedFd stop(::eventfd(1, EFD_CLOEXEC));
  const auto called_off = lock_workspaces(state, changes_work, {.most_ms = 60'000, .stop = stop.get()});
  ASSERT_FALSE(called_off.ok());
  EXPECT_NE(called_off.error().what.text().find("cancelled"), std::string::npos);
}

TEST_F(WorkspaceLock, WithoutAStateDirectoryNoCallIsAlone) {
  EXPECT_FALSE(lock_workspaces("", alone_in_work, {}).ok());
  const auto shared = lock_workspaces("", changes_work, {});
  ASSERT_TRUE(shared.ok());
  EXPECT_FALSE(shared.value());
}

}  // namespace
}  // namespace cloche
