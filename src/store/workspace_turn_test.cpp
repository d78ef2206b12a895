// Who waits for whom: what one call changes, and where another is alone.
#include "store/workspace_turn.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <filesystem>

#include "base/scratch.hpp"

namespace cloche {
namespace {

class WorkspaceTurn : public testing::Test {
 protected:
  Result<OwnedFd> take(const Turn& turn, uint64_t most_ms = 0) const {
    return take_turn(state, turn, {.most_ms = most_ms});
  }
  Scratch scratch;
  std::string state = scratch.path + "/state";
};

const Turn changes_work{.changes = {"/w"}};
const Turn changes_below{.changes = {"/w/sub/deep"}};
const Turn changes_all{.changes = {"/"}};
const Turn changes_else{.changes = {"/v", "/wide"}};
const Turn changes_both{.changes = {"/v", "/w"}};
const Turn alone_in_work{.changes = {"/w"}, .alone = {"/w"}};
const Turn alone_below{.changes = {"/w/sub"}, .alone = {"/w/sub"}};
const Turn alone_else{.changes = {"/v"}, .alone = {"/v"}};
const Turn alone_in_code{.changes = {}, .alone = {"/w", "/code/tool"}};

TEST_F(WorkspaceTurn, OneIsInAnothersWayWhereOneMayChangeWhatTheOtherHasAlone) {
  struct Row {
    const char* what;
    Turn one;
    Turn other;
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

TEST_F(WorkspaceTurn, ItEndsWithWhoeverHeldIt) {
  { const auto held = take(alone_in_work); }
  EXPECT_TRUE(take(changes_work).ok());
}

TEST_F(WorkspaceTurn, WhoWaitsIsToldWhyAndMayBeCalledOff) {
  const auto held = take(alone_in_work);
  std::vector<std::string> said;
  const auto late = take_turn(
      state, changes_work, {.most_ms = 1200, .waits = [&](std::string_view why) { said.emplace_back(why); }});
  ASSERT_FALSE(late.ok());
  EXPECT_NE(late.error().what.text().find("an approved call runs"), std::string::npos);
  EXPECT_EQ(said.size(), 1U);
  const OwnedFd stop(::eventfd(1, EFD_CLOEXEC));
  const auto called_off = take_turn(state, changes_work, {.most_ms = 60'000, .stop = stop.get()});
  ASSERT_FALSE(called_off.ok());
  EXPECT_NE(called_off.error().what.text().find("cancelled"), std::string::npos);
}

TEST_F(WorkspaceTurn, WithoutAStateDirectoryNobodyIsAlone) {
  EXPECT_FALSE(take_turn("", alone_in_work, {}).ok());
  const auto shared = take_turn("", changes_work, {});
  ASSERT_TRUE(shared.ok());
  EXPECT_FALSE(shared.value());
}

TEST(TreesChangedBy, WritableTreesOfTheHostAlone) {
  ConfinementPlan plan;
  plan.view.push_back({.kind = EntryKind::tree, .access = Access::read, .target = "/usr", .source = "/usr"});
  plan.view.push_back({.kind = EntryKind::tree, .access = Access::write_run, .target = "/w", .source = "/w"});
  plan.view.push_back({.kind = EntryKind::tree, .access = Access::write, .target = "/x", .source = "/out"});
  plan.view.push_back({.kind = EntryKind::tmpfs, .access = Access::write, .target = "/tmp"});
  plan.view.push_back({.kind = EntryKind::tree,
                       .access = Access::write_run,
                       .target = "/home/agent",
                       .source = "/state/task/home",
                       .role = EntryRole::placed});
  EXPECT_EQ(trees_changed_by(plan), (std::vector<std::string>{"/w", "/out"}));
  plan.backend = Backend::none;
  EXPECT_EQ(trees_changed_by(plan), (std::vector<std::string>{"/"}));
}

}  // namespace
}  // namespace cloche
