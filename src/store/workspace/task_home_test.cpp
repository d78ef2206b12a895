// Which calls of a task run beside each other, and which home each has.
#include "store/workspace/task_home.hpp"

#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/scratch.hpp"
#include "base/sys/sys.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

class TaskHomes : public testing::Test {
 protected:
  void SetUp() override {
    const std::string run = fs::canonical(scratch_.path).string() + "/run";
    auto place = place_given_run(run, "");
    ASSERT_TRUE(place.ok()) << place.error().what;
    place_ = place.value();
  }

  std::vector<Grant> own(const std::string& executor = {}) const {
    const auto home = make_task_home(place_, "A", executor);
    EXPECT_TRUE(home.ok()) << home.error().what;
    return task_grants(home.value());
  }

  // What a plan has of a task, and this besides.
  static ConfinementPlan plan_with(const std::vector<Grant>& own, const std::string& target) {
    ConfinementPlan plan;
    for (const auto& given : own)
      plan.view.push_back({.kind = EntryKind::tree, .access = Access::write_run, .target = given.target});
    plan.view.push_back({.kind = EntryKind::tree, .access = Access::run, .target = target});
    plan.limits.wall_ms = 60;
    return plan;
  }

  Scratch scratch_;
  RunPlace place_;
};

TEST_F(TaskHomes, ACallWithAFreshHomeHoldsNothing) {
  const auto nothing = enter_task(plan_with({}, "/tmp/work"), own());
  ASSERT_TRUE(nothing.ok());
  EXPECT_FALSE(nothing.value());
}

TEST_F(TaskHomes, AnExclusiveCallWaitsForAllOthersAndTheyForIt) {
  const auto given = own();
  const ConfinementPlan usual = plan_with(given, "/srv/work");
  const ConfinementPlan alone = plan_with(given, "/tmp/work");
  {
    const auto one = enter_task(usual, given);
    const auto two = enter_task(usual, given);
    ASSERT_TRUE(one.ok() && two.ok());
    const auto refused = enter_task(alone, given);
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().what.text().find("another call of the task still runs"), std::string::npos);
    EXPECT_FALSE(fs::exists(given[1].source + "/work"));  // nothing is made for a call that may not go on
  }
  const auto first = enter_task(alone, given);
  ASSERT_TRUE(first.ok()) << first.error().what;
  EXPECT_TRUE(fs::exists(given[1].source + "/work"));
  EXPECT_FALSE(enter_task(alone, given).ok());
  EXPECT_FALSE(enter_task(usual, given).ok());
}

TEST_F(TaskHomes, ACallThatWaitsForASecondSaysWhy) {
  const auto given = own();
  ConfinementPlan alone = plan_with(given, "/tmp/work");
  alone.limits.wall_ms = 1200;
  const auto first = enter_task(alone, given);
  ASSERT_TRUE(first.ok());
  std::vector<std::string> said;
  EXPECT_FALSE(enter_task(alone, given, [&](std::string_view why) { said.emplace_back(why); }).ok());
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("one at a time"), std::string::npos);
}

TEST_F(TaskHomes, AnExecutorHasAHomeOfItsOwnAndTheTasksTmp) {
  const auto usual = own();
  const auto counter = own("counter");
  const auto other = own("other");
  EXPECT_EQ(usual[1].source, counter[1].source);
  EXPECT_EQ(counter[0].source, place_.directory + "/tasks/A/executors/counter/home");
  EXPECT_NE(counter[0].source, usual[0].source);
  EXPECT_NE(counter[0].source, other[0].source);
  EXPECT_EQ(counter[0].target, usual[0].target);
  struct stat seen {};
  ASSERT_EQ(::stat(counter[0].source.c_str(), &seen), 0);
  EXPECT_EQ(seen.st_mode & 0777, 0700U);
  // They wait for each other all the same: /tmp is one.
  const auto alone = enter_task(plan_with(counter, "/tmp/executor"), counter);
  ASSERT_TRUE(alone.ok());
  EXPECT_FALSE(enter_task(plan_with(usual, "/srv/work"), usual).ok());
  remove_task_homes(place_);
  EXPECT_FALSE(fs::exists(place_.directory + "/tasks"));
}

}  // namespace
}  // namespace cloche
