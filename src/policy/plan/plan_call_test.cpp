// What a permitted command becomes: the operator's plan with the shape's additions, never wider than the
// operator's.
#include "policy/plan/plan_call.hpp"

#include <gtest/gtest.h>

#include <map>

namespace cloche {
namespace {

Facts small_host() {
  Facts facts;
  facts.caller = {.uid = 1000, .gid = 1000};
  facts.caller.environment = {{"CI", "true"}, {"GOFLAGS", "-toolexec=evil"}};
  facts.workspace = {.kind = FileFact::Kind::directory, .path = "/project", .device = 1, .inode = 2};
  facts.system = {{.kind = FileFact::Kind::directory, .path = "/usr"}};
  facts.toolchains = {
      {.name = "pyenv",
       .trees = {{.kind = FileFact::Kind::directory, .path = "/opt/pyenv", .device = 1, .inode = 3}},
       .path = {"/opt/pyenv/bin"},
       .environment = {{"PYENV_ROOT", "/opt/pyenv"}}}};
  return facts;
}

Launch passive_launch() {
  Launch launch;
  launch.argv = {"go", "vet"};
  launch.environment = {{"CGO_ENABLED", "0"}, {"GOFLAGS", "-buildvcs=false"}};
  launch.directory = "/";
  launch.readonly = false;
  return launch;
}

ConfinementPlan planned(const Launch& launch, const RunRequest& operators = {}) {
  auto plan = plan_launch(launch, operators, small_host());
  EXPECT_TRUE(plan.ok()) << plan.error().what;
  return plan.ok() ? std::move(plan).value() : ConfinementPlan{};
}

std::map<std::string, std::string> environment_of(const ConfinementPlan& plan) {
  std::map<std::string, std::string> variables;
  for (const auto& [name, value] : plan.environment) variables[name] = value;
  return variables;
}

// A session in which a.org can be reached.
RunRequest with_network() {
  RunRequest operators;
  operators.profile = Profile::workspace_write;
  operators.hosts = {"a.org:80", "a.org:443"};
  operators.declared = "skill s, needs_network: [a.org]";
  return operators;
}

TEST(PlanCall, OnlyWhatUsesTheNetworkHasIt) {
  Launch launch = passive_launch();
  EXPECT_TRUE(planned(launch, with_network()).hosts.empty());
  launch.readonly = true;
  EXPECT_TRUE(planned(launch, with_network()).hosts.empty()) << "and is not refused for it";
  launch = passive_launch();
  launch.network = true;
  const ConfinementPlan plan = planned(launch, with_network());
  EXPECT_EQ(plan.hosts, with_network().hosts);
  EXPECT_EQ(plan.declared, "skill s, needs_network: [a.org]");
  RunRequest by_flag = with_network();
  by_flag.declared.clear();
  EXPECT_EQ(planned(launch, by_flag).declared, "--net: [a.org]");
}

TEST(PlanCall, WhatFetchesSeesItsProgramAndReachesItsHostAlone) {
  Launch launch;
  launch.argv = {"/.cloche/fetch", "https://a.org/"};
  launch.does = Fetch{"https://a.org/", "a.org:443"};
  launch.network = true;
  launch.readonly = false;
  launch.pass_env = {"CI"};
  RunRequest operators = with_network();
  operators.grants = {{.source = "/never/looked/up", .writable = true}};
  operators.own = {{.source = "/a/home/of/a/task", .target = "/home", .writable = true}};
  operators.tool_path = {"/opt/tools"};
  operators.environment = {{"SECRET", "x"}};
  operators.secrets = {{"SECRET2", "x", "f"}};
  operators.program = Grant{.source = "/lib/fetch", .target = "/.cloche/fetch"};
  operators.program->judged =
      FileFact{.kind = FileFact::Kind::file, .path = "/lib/fetch", .device = 7, .inode = 8};
  const ConfinementPlan plan = planned(launch, operators);
  EXPECT_EQ(plan.hosts, std::vector<std::string>{"a.org:443"});
  EXPECT_EQ(plan.workspace, "");
  std::vector<std::string> owned;
  for (const auto& entry : plan.view) {
    if (entry.owned) owned.push_back(entry.target + " " + std::string(name_of(entry.access)));
  }
  EXPECT_EQ(owned, std::vector<std::string>{"/.cloche/fetch run"});
  const auto variables = environment_of(plan);
  EXPECT_FALSE(variables.contains("CI") || variables.contains("SECRET"));
  EXPECT_TRUE(plan.secrets.empty());
}

TEST(PlanCall, APassivePlanExecutesNothingThatCanBeWritten) {
  for (auto profile : {Profile::workspace_write_no_network, Profile::readonly}) {
    RunRequest operators;
    operators.profile = profile;
    const ConfinementPlan plan = planned(passive_launch(), operators);
    bool system = false;
    for (const auto& entry : plan.view) {
      EXPECT_NE(entry.access, Access::write_run) << entry.target;
      if (entry.target == "/project") {
        EXPECT_EQ(entry.access, profile == Profile::readonly ? Access::read : Access::write);
      }
      EXPECT_FALSE(entry.owned && entry.access == Access::run) << entry.target;
      system = system || (entry.target == "/usr" && entry.access == Access::run);
    }
    EXPECT_TRUE(system) << "the system's programs still run";
  }
}

TEST(PlanCall, ProgramsComeFromTheSystemAlone) {
  const ConfinementPlan plan = planned(passive_launch());
  EXPECT_EQ(environment_of(plan)["PATH"], "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
  for (const auto& entry : plan.view) EXPECT_NE(entry.target, "/opt/pyenv");
  Launch any;
  any.argv = {"x"};
  any.noexec = any.system_programs = any.readonly = false;
  EXPECT_NE(environment_of(planned(any))["PATH"].find("/opt/pyenv/bin"), std::string::npos);
}

TEST(PlanCall, TheShapesVariablesStandOverThePassedOnes) {
  Launch launch = passive_launch();
  launch.pass_env = {"CI", "GOFLAGS"};
  auto variables = environment_of(planned(launch));
  EXPECT_EQ(variables["CI"], "true");
  EXPECT_EQ(variables["GOFLAGS"], "-buildvcs=false");
  EXPECT_EQ(variables["CGO_ENABLED"], "0");
}

TEST(PlanCall, ACallCanOnlyAskForLessTime) {
  RunRequest operators;
  operators.limits.wall_ms = 10'000;
  Launch launch = passive_launch();
  for (const auto& [asked, given] :
       std::map<uint64_t, uint64_t>{{1000, 1000}, {10'000, 10'000}, {99'000, 10'000}}) {
    launch.timeout_ms = asked;
    EXPECT_EQ(planned(launch, operators).limits.wall_ms, given);
  }
}

TEST(PlanCall, WhoMayOnlyReadWritesNothing) {
  const ConfinementPlan plan = planned(Launch{.argv = {"ls"}});
  for (const auto& entry : plan.view)
    EXPECT_TRUE(entry.access != Access::write && entry.access != Access::write_run) << entry.target;
}

TEST(PlanCall, TheDirectoryIsTheShapesOrTheWorkspace) {
  Launch launch = passive_launch();
  EXPECT_EQ(planned(launch).directory, "/");
  launch.directory = "";
  EXPECT_EQ(planned(launch).directory, "/project");
}

TEST(PlanCall, EveryPartOfTheLaunchCountsForTheDigest) {
  const std::string digest = digest_of(planned(passive_launch()));
  Launch other = passive_launch();
  other.argv.push_back(".");
  EXPECT_NE(digest_of(planned(other)), digest);
  other = passive_launch();
  other.environment.pop_back();
  EXPECT_NE(digest_of(planned(other)), digest);
  other = passive_launch();
  other.noexec = false;
  EXPECT_NE(digest_of(planned(other)), digest);
  other = passive_launch();
  other.directory = "/usr";
  EXPECT_NE(digest_of(planned(other)), digest);
}

}  // namespace
}  // namespace cloche
