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

}  // namespace
}  // namespace cloche
