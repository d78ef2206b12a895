// Grants that were named by a symbolic link.
#include "policy/plan/plan_run_fixture.hpp"

namespace cloche {
namespace {

using namespace plan_run_fixture;

ConfinementPlan planned(const RunRequest& request, const Facts& facts) {
  auto plan = plan_run(request, facts);
  EXPECT_TRUE(plan.ok()) << plan.error().what;
  return plan.ok() ? std::move(plan).value() : ConfinementPlan{};
}

// The name that was written, and what has to be true of it to be shown as well.
TEST(LinkedNames, AGrantByALinkIsShownByBothNames) {
  struct Row {
    const char* why;
    std::string named;
    bool shown;
    IsolationLevel level = IsolationLevel::namespaces;
  };
  const Row rows[] = {
      {"beside it", "/home/user/dl", true},
      {"in the private /tmp", "/tmp/dl", true},
      {"so does a tree of the system's", "/usr/share/dl", false},
      {"behind a link of the view", "/bin/dl", false},
      {"there are no files of the host's", "/proc/self/cwd", false},
      {"it would cover the command's own home", "/home", false},
      {"it would cover what the view has", "/etc", false},
      {"without a mount view the link is there", "/home/user/dl", false, IsolationLevel::subprocess}};
  for (const auto& [why, named, shown, level] : rows) {
    for (const bool writable : {false, true}) {
      RunRequest request = plain_request();
      request.level = level;
      request.grants = {{.source = named, .writable = writable}};
      Facts facts = plain_host();
      facts.grants = {directory("/home/user/data")};
      facts.grants.front().turns = {named};
      const ConfinementPlan plan = planned(request, facts);
      EXPECT_NE(find(plan, "/home/user/data"), nullptr) << why;
      const ViewEntry* other = find(plan, named);
      const bool is_shown = other != nullptr && other->source == "/home/user/data";
      EXPECT_EQ(is_shown, shown) << why;
      if (is_shown) {
        EXPECT_EQ(other->access, writable ? Access::write_run : Access::run);
      }
      request.grants.front().target = "/data";
      EXPECT_EQ(find(planned(request, facts), "/home/user/dl"), nullptr) << "a target was said";
    }
  }
}

TEST(LinkedNames, WhatIsProtectedIsSoByBothNames) {
  RunRequest request = plain_request();
  request.grants = {{.source = "/home/user/dl", .writable = true}};
  Facts facts = plain_host();
  facts.grants = {directory("/home/user/data")};
  facts.grants.front().turns = {"/home/user/dl"};
  facts.guard.kept = {directory("/home/user/data/.git/hooks")};
  const ConfinementPlan plan = planned(request, facts);
  for (const char* path : {"/home/user/data/.git/hooks", "/home/user/dl/.git/hooks"}) {
    ASSERT_NE(find(plan, path), nullptr) << path;
    EXPECT_EQ(find(plan, path)->access, Access::run) << path;
  }
}

// /var/tmp is a link of the view's own, unless something is granted there.
TEST(LinkedNames, ALinkThatGivesWayHidesNoName) {
  for (const bool beneath : {false, true}) {
    RunRequest request = plain_request();
    request.grants = {{.source = "/var/tmp/dl"}};
    Facts facts = plain_host();
    facts.grants = {directory(beneath ? "/var/tmp/data" : "/srv/data")};
    facts.grants.front().turns = {"/var/tmp/dl"};
    EXPECT_EQ(find(planned(request, facts), "/var/tmp/dl") != nullptr, beneath);
    EXPECT_EQ(find(planned(request, facts), "/var/tmp") == nullptr, beneath);
  }
}

TEST(LinkedNames, TheNameIsTheOneThatWasWritten) {
  struct Row {
    const char* written;
    std::vector<std::string> turns;
    const char* shown;  // besides /srv/data; empty: nothing
  };
  const Row rows[] = {{"/srv/data", {}, ""},
                      {"/srv/l/", {"/srv/l"}, "/srv/l"},
                      {"/srv/l/data", {"/srv/l"}, "/srv/l/data"},
                      {"l", {"/srv/l", "/srv/m"}, "/srv/l"},
                      {"a/l", {"/srv/a/l"}, "/srv/a/l"},
                      {"l/data", {"/srv/l"}, ""},
                      {"../l", {"/srv/x", "/srv/l"}, ""},
                      {"/srv/x/../l", {"/srv/x", "/srv/l"}, ""}};
  for (const auto& [written, turns, shown] : rows) {
    RunRequest request = plain_request();
    request.grants = {{.source = written}};
    Facts facts = plain_host();
    facts.grants = {directory("/srv/data")};
    facts.grants.front().turns = turns;
    size_t others = 0;
    for (const auto& entry : planned(request, facts).view) {
      if (entry.source != "/srv/data" || entry.target == "/srv/data") continue;
      EXPECT_EQ(entry.target, shown) << written;
      ++others;
    }
    EXPECT_EQ(others, *shown != '\0' ? 1U : 0U) << written;
  }
}

}  // namespace
}  // namespace cloche
