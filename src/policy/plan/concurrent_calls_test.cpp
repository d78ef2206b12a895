#include "policy/plan/concurrent_calls.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

const std::vector<Grant> task = {{"/run/A/home", "/home/cloche", true}, {"/run/A/tmp", "/tmp", true}};

// A plan with these directories of a task, which shows this besides.
ConfinementPlan plan_with(const std::vector<Grant>& own, const std::string& target) {
  ConfinementPlan plan;
  for (const auto& given : own)
    plan.view.push_back({.kind = EntryKind::tree, .access = Access::write_run, .target = given.target});
  plan.view.push_back({.kind = EntryKind::tree, .access = Access::run, .target = target});
  return plan;
}

TEST(ConcurrentCalls, WhatLiesInTheTasksDirectoriesMakesACallExclusive) {
  const struct {
    const char* target;
    const char* pinned;
    TaskUse use;
  } rows[] = {
      {"/srv/work", "", TaskUse::shared},
      {"/tmp/work", "", TaskUse::exclusive},
      {"/tmp/a/b/c", "", TaskUse::exclusive},
      {"/home/cloche/x", "", TaskUse::exclusive},
      {"/tmpfile", "", TaskUse::shared},
      {"/home/other/project", "", TaskUse::shared},
      {"/tmp/work", "/tmp/work", TaskUse::shared},
      {"/tmp/work/.git", "/tmp/work", TaskUse::shared},
      {"/tmp/worker", "/tmp/work", TaskUse::exclusive},
      {"/tmp/a/b", "/tmp/a/b", TaskUse::exclusive},  // the directory above it can be moved
  };
  for (const auto& row : rows)
    EXPECT_EQ(task_use_of(plan_with(task, row.target), task, row.pinned), row.use)
        << row.target << " " << row.pinned;
  EXPECT_EQ(task_use_of(plan_with({}, "/tmp/work"), task), TaskUse::shared) << "a call with a fresh home";
}

TEST(ConcurrentCalls, ACommandChangesTheWritableTreesOfTheHost) {
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

TEST(ConcurrentCalls, ACallThatWaitedInVainSaysForWhat) {
  const struct {
    WaitsFor what;
    WaitEnd end;
    const char* said;
  } rows[] = {
      {WaitsFor::approved_call, WaitEnd::ready, ""},
      {WaitsFor::approved_call, WaitEnd::too_long,
       "an approved call runs in this workspace, and no other beside it; call it again when they have ended, "
       "or end them"},
      {WaitsFor::other_calls, WaitEnd::too_long,
       "other calls still run in this workspace, and could change the files that this one is asked about; "
       "call it again when they have ended, or end them"},
      {WaitsFor::calls_of_task, WaitEnd::too_long,
       "another call of the task still runs, and this one cannot run beside it: something that it is shown "
       "lies in the task's own /tmp or home; wait for the other one, use another task, or keep the workspace "
       "outside of /tmp"},
      {WaitsFor::other_calls, WaitEnd::cancelled, "cancelled while it waited for other calls"},
      {WaitsFor::calls_of_task, WaitEnd::cancelled, "cancelled while it waited for other calls"},
  };
  for (const auto& row : rows) {
    const auto judged = judge_wait(row.what, row.end);
    EXPECT_EQ(judged.ok() ? "" : describe(judged.error()), row.said);
  }
}

}  // namespace
}  // namespace cloche
