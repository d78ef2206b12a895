// `cloche run --skill`: the command reaches what the skill declares, capped as a call would be.
#include "egress/fixture.hpp"

namespace cloche::test {
namespace {

class SkillHosts : public Egress {
 protected:
  // Beside the workspace it is the operator's own, in it the project's.
  std::string skill(const std::string& place, const std::string& needs) {
    return scene().write(place + "/SKILL.md", "---\nname: test\ndescription: d\n" + needs + "\n---\nText.\n");
  }
  Called talk(const Words& flags) {
    const std::string script = file("talk", "tool.cloche.test 7001 9 0 0\n");
    return client({}, {"talk", script}, flags);
  }
};

constexpr const char* reached = "tool.cloche.test seen 220 ready\r\n\n";

TEST_P(SkillHosts, WhatASkillOfTheOperatorsDeclaresIsReached) {
  const std::string own = skill("own", "needs_network: ['tool.cloche.test:7001']");
  const Called called = talk({"--skill", own, "--profile", "workspace-write"});
  EXPECT_EQ(called.out, reached) << called;
  const Called beside =
      call({"web.cloche.test"}, {"getent", "hosts", "web.cloche.test", "evil.cloche.test"}, {"--skill", own});
  EXPECT_TRUE(
      beside.denied("look-up of evil.cloche.test refused: not declared (--net: [web.cloche.test]; "
                    "skill test, needs_network: [tool.cloche.test:7001])"))
      << beside;
  EXPECT_TRUE(contains(beside.out, "web.cloche.test")) << beside;
}

TEST_P(SkillHosts, WithoutANetworkItIsSaid) {
  const std::string own = skill("own", "needs_network: ['tool.cloche.test:7001']");
  for (const Words& flags : {Words{"--skill", own}, Words{"--skill", own, "--profile", "readonly"}}) {
    const Called called = talk(flags);
    EXPECT_NE(called.out, reached) << called;
    EXPECT_TRUE(contains(called.ran.err,
                         "the sandbox profile has no network: tool.cloche.test:7001 cannot be reached"))
        << called;
  }
}

TEST_P(SkillHosts, AProjectsSkillHasNoMoreThanTheOperatorGives) {
  const std::string projects = skill("workspace/skills", "needs_network: ['tool.cloche.test:7001']");
  const Called alone = talk({"--skill", projects, "--profile", "workspace-write"});
  EXPECT_NE(alone.out, reached) << alone;
  const Called given = talk({"--skill", projects, "--net", "tool.cloche.test:7001"});
  EXPECT_EQ(given.out, reached) << given;
}

FOR_EVERYONE(SkillHosts);

}  // namespace
}  // namespace cloche::test
