#include "confine/warm/late_text.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "confine/launch.hpp"

namespace cloche {
namespace {

constexpr const char* target = "/run/cloche/main.py";

ConfinementPlan plan_of(const std::string& code) {
  ConfinementPlan plan;
  plan.argv = {"python3", "-I", target};
  plan.view = {{.kind = EntryKind::tree, .access = Access::run, .target = "/usr", .source = "/usr"},
               {.kind = EntryKind::tmpfs, .target = "/run/cloche", .size_bytes = code.size() + 65536},
               {.kind = EntryKind::text, .target = target, .content = code, .mode = 0644}};
  return plan;
}

TEST(LateText, IsTheScriptOfAnInterpreterThatHasNothingElseOfTheCalls) {
  const ConfinementPlan plan = plan_of("print(1)");
  const auto script = late_script(plan);
  ASSERT_TRUE(script);
  EXPECT_EQ(script->target, target);
  EXPECT_EQ(script->code, "print(1)");
  const std::function<void(ConfinementPlan&)> others[] = {
      [](auto& p) {
        p.argv = {"python3", target};
      },
      [](auto& p) {
        p.argv = {"bash", "-I", target};
      },
      [](auto& p) {
        p.argv = {"python3", "-I", "/usr/share/x.py"};
      },
      [](auto& p) { p.argv.emplace_back("word"); },
      [](auto& p) { p.backend = Backend::subprocess; },
      [](auto& p) { p.network = Network::of_host; },
      [](auto& p) { p.terminal = true; },
      [](auto& p) { p.hosts = {"example.org:443"}; },
      [](auto& p) {
        p.published = {{1, 2}};
      },
      [](auto& p) { p.secrets = {{.name = "A", .value = "b"}}; },
      [](auto& p) { p.view.edit()[0].layered = true; },
  };
  for (const auto& change : others) {
    ConfinementPlan other = plan_of("print(1)");
    change(other);
    EXPECT_FALSE(late_script(other)) << &change - others;
  }
}

TEST(LateText, IsNoTextThatMustBeAFileWhenItIsOpened) {
  const std::string no[] = {"# -*- coding: latin-1 -*-\n",
                            "#!/usr/bin/python3\n# vim: set fileencoding=x :\n",
                            "\r# coding=utf-8",
                            std::string(61440, '#') + "\n",
                            "\n\n# coding: x",
                            "x = 1 # coding: y"};
  for (const auto& code : no) EXPECT_FALSE(late_script(plan_of(code))) << code.substr(0, 40);
  const std::string yes[] = {"", "\n\n\n# coding: latin-1", "import sys\nprint(1)\n\nencoding = 1",
                             "encoding = 1\nf(coding='x') #", std::string(61440, '#')};
  for (const auto& code : yes) EXPECT_TRUE(late_script(plan_of(code))) << code.substr(0, 40);
}

std::string rendered(const ConfinementPlan& plan) {
  return wire::encode(with_late_text(render(plan, {}, {}).jail, target));
}

TEST(LateText, PlansThatDifferInTheScriptAloneAreStartedAlike) {
  const std::string one = rendered(plan_of("print(1)"));
  EXPECT_EQ(one, rendered(plan_of("print('another')")));
  EXPECT_EQ(one, rendered(without_script(plan_of("print(1)"))));
  EXPECT_EQ(one.find("print"), std::string::npos) << "none of it is there before its call";
  ConfinementPlan other = plan_of("print(1)");
  other.environment = {{"A", "b"}};
  EXPECT_NE(one, rendered(other));
  other = plan_of("print(1)");
  other.limits.cpu_s += 1;
  EXPECT_NE(one, rendered(other));
  other = plan_of("print(1)");
  other.view.edit()[0].inode = 7;
  EXPECT_NE(one, rendered(other));
}

}  // namespace
}  // namespace cloche
