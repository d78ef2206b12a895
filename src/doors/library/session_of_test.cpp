// What a program says, as flags, session and environment.
#include "doors/library/session_of.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

using Words = std::vector<std::string>;

TEST(OptionsOfAProgram, BecomeFlagsWithTheirValuesJoined) {
  v1::Options options;
  options.workspace = "--json";
  options.profile = "readonly";
  options.read_only = {"/a:/b", "-x"};
  options.net = {"a.org"};
  options.limits = {{"timeout", "5s"}, {"memory", "64M"}};
  options.flags = {"--net-any"};
  const auto flags = flags_of(options);
  ASSERT_TRUE(flags.ok());
  EXPECT_EQ(flags.value(), (Words{"--workspace=--json", "--profile=readonly", "--ro=/a:/b", "--ro=-x",
                                  "--net=a.org", "--timeout=5s", "--memory=64M", "--net-any"}));
  const auto session = session_of(options);
  ASSERT_TRUE(session.ok());
  const SessionOptions& read = session.value().options;
  EXPECT_EQ(read.operators.workspace, "--json");
  EXPECT_EQ(read.operators.profile, Profile::readonly);
  EXPECT_EQ(read.operators.limits.wall_ms, 5000U);
  EXPECT_EQ(read.ceilings.hosts, (Words{"a.org", "*"}));
  EXPECT_EQ(read.record, Registry::Record::kept);
}

TEST(OptionsOfAProgram, OfWhichNothingIsSaidAreThoseOfACall) {
  const auto session = session_of({});
  ASSERT_TRUE(session.ok());
  const SessionOptions& read = session.value().options;
  const SessionOptions standard = default_session();
  EXPECT_EQ(read.operators, standard.operators);
  EXPECT_EQ(read.ceilings.level, Autonomy::supervised);
  EXPECT_EQ(read.ceilings.commands, CommandProfile::full);
  EXPECT_TRUE(read.ceilings.hosts.empty());
  EXPECT_EQ(session.value().role, "agent");
}

TEST(OptionsOfAProgram, ThatAreWrongAreRefused) {
  using namespace std::string_literals;
  struct Row {
    void (*set)(v1::Options& options);
    const char* says;
  };
  const Row rows[] = {
      {[](auto& o) { o.autonomy = "wild"; }, "known are readonly, supervised and full"},
      {[](auto& o) { o.profile = "../x"; }, "is not the name of a profile"},
      {[](auto& o) { o.skill = ""; }, "empty value"},
      {[](auto& o) {
         o.limits = {{"net-any", "1"}};
       },
       "there is no limit net-any"},
      {[](auto& o) {
         o.limits = {{"timeout", "0"}};
       },
       "zero is not a limit"},
      {[](auto& o) {
         o.limits = {{"", ""}};
       },
       "there is no limit"},
      {[](auto& o) { o.workspace = "/x\0/y"s; }, "zero byte"},
      {[](auto& o) { o.flags = {"--nope"}; }, "unknown flag --nope"},
      {[](auto& o) { o.flags = {"run_shell"}; }, "unexpected argument"},
      {[](auto& o) {
         o.flags = {"--", "run_shell"};
       },
       "unexpected argument"},
      {[](auto& o) { o.flags = {"--json"}; }, "unknown flag --json"},
      {[](auto& o) { o.flags = {"--help"}; }, "no option of a gateway"},
      {[](auto& o) { o.flags = {"--format=mcp"}; }, "unknown flag --format"},
      {[](auto& o) { o.record = false, o.task = "T"; }, "without a record"},
      {[](auto& o) { o.record = false, o.flags = {"--run=x"}; }, "without a record"},
      {[](auto& o) { o.functions = {{"f"}}; }, "nothing to run"},
  };
  for (const auto& row : rows) {
    v1::Options options;
    row.set(options);
    const auto session = session_of(options);
    ASSERT_FALSE(session.ok()) << row.says;
    EXPECT_EQ(session.error().cause, Cause::usage) << row.says;
    EXPECT_NE(describe(session.error()).find(row.says), std::string::npos) << describe(session.error());
  }
}

TEST(OptionsOfAProgram, DirectoriesStandInThePlaceOfTheirVariables) {
  const Words own = {"HOME=/h", "HOMES=/x", "XDG_STATE_HOME=/s", "PATH=/bin"};
  v1::Options options;
  EXPECT_EQ(environment_of(options, own).value(), own);
  options.state_home = "/other";
  options.config_home = "/c";
  EXPECT_EQ(environment_of(options, own).value(),
            (Words{"HOME=/h", "HOMES=/x", "PATH=/bin", "XDG_CONFIG_HOME=/c", "XDG_STATE_HOME=/other"}));
  options.environment = Words{"HOME=/mine"};
  EXPECT_EQ(environment_of(options, own).value(),
            (Words{"HOME=/mine", "XDG_CONFIG_HOME=/c", "XDG_STATE_HOME=/other"}));
  options.environment = Words{"=x"};
  EXPECT_FALSE(environment_of(options, own).ok());
  options.environment = Words{"no variable"};
  EXPECT_FALSE(environment_of(options, own).ok());
  options.environment = Words{std::string("A=\0", 3)};
  EXPECT_FALSE(environment_of(options, own).ok());
}

TEST(OptionsOfAProgram, AnErrorKeepsItsKindAndItsFixApart) {
  const v1::Error error = public_error(usage_error("no such thing", "take another"));
  EXPECT_EQ(error.kind, v1::Error::Kind::usage);
  EXPECT_EQ(error.what, "no such thing");
  EXPECT_EQ(error.fix, "take another");
  EXPECT_EQ(public_error({.cause = Cause::missing_layer}).kind, v1::Error::Kind::missing_layer);
  EXPECT_EQ(public_error({.cause = Cause::internal}).kind, v1::Error::Kind::internal);
}

}  // namespace
}  // namespace cloche
