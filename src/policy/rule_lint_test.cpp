// Rules that never decide are found, and rules that do decide are left in peace.
#include <gtest/gtest.h>

#include "base/json.hpp"
#include "policy/rules.hpp"

namespace cloche {
namespace {

std::vector<std::string> findings(const std::string& rules) {
  const auto json = read_json("{\"rules\": [\n" + rules + "]}", "r.json");
  EXPECT_TRUE(json.ok()) << rules;
  const auto file = RuleFile::read(&json.value(), "r.json");
  EXPECT_TRUE(file.ok()) << (file.ok() ? "" : file.error().what);
  std::vector<std::string> texts;
  for (const auto& finding : lint(file.value())) texts.push_back(finding.rule + ": " + finding.what);
  return texts;
}

std::string rule(const char* tool, const char* pattern, const char* action = "deny") {
  return std::string("{\"tool\": \"") + tool + "\", \"action\": \"" + action + "\"" +
         (pattern == nullptr ? "}" : ", \"args\": {\"cmd\": " + json_quote(pattern) + "}}");
}

struct Pair {
  std::string first;
  std::string second;
  bool shadowed;
};

TEST(RuleLint, KnowsWhenTheSecondNeverDecides) {
  const Pair rows[] = {
      {rule("*", nullptr), rule("run_shell", "rm"), true},
      {rule("run_shell", nullptr), rule("run_shell", "rm"), true},
      {rule("run_shell_command", nullptr), rule("run_shell", nullptr), true},
      {rule("run_*", "rm"), rule("run_shell", "rm", "allow"), true},
      {rule("run_shell", ".*"), rule("run_shell", "rm"), true},
      {rule("run_shell", "sudo"), rule("run_shell", "sudo rm"), true},
      {rule("run_shell", "rm|sudo"), rule("run_shell", "sudo"), true},
      {rule("run_shell", "a|b|c"), rule("run_shell", "c|a"), true},
      {rule("run_shell", "rm\\|sudo"), rule("run_shell", "sudo"), false},
      {rule("run_shell", "[a|b]"), rule("run_shell", "b"), false},
      {rule("run_shell", "(a|b)c"), rule("run_shell", "b"), false},
      {rule("run_shell", "[]|]x|y"), rule("run_shell", "]x"), false},
      {rule("run_shell", "[[:alpha:]|]x|y"), rule("run_shell", "y"), true},
      {rule("run_shell", "(?i)a|b"), rule("run_shell", "b"), false},
      {rule("run_shell", "rm"), rule("*", "rm"), false},
      {rule("run_shell", "rm"), rule("run_shell", nullptr), false},
      {rule("run_shell", ".*"), rule("run_shell", nullptr), false},  // a call may come without cmd
      {rule("run_shell", "sudo rm"), rule("run_shell", "sudo"), false},
      {rule("run_shell", "a.c"), rule("run_shell", "abc"), false},  // not known, so not claimed
  };
  for (const auto& [first, second, shadowed] : rows)
    EXPECT_EQ(findings(first + ",\n" + second).size(), shadowed ? 1U : 0U) << first << " then " << second;
}

TEST(RuleLint, SaysWhichAndWhy) {
  EXPECT_EQ(findings(rule("run_shell", "a") + ",\n" + rule("run_shell", "a", "allow")),
            std::vector<std::string>{"permissions.rules[1] r.json:3: never decides: it has the same "
                                     "condition as permissions.rules[0] on line 2"});
  EXPECT_EQ(
      findings(rule("*", nullptr) + ",\n" + rule("run_shell", "a")),
      std::vector<std::string>{"permissions.rules[1] r.json:3: never decides: permissions.rules[0] on line 2 "
                               "matches everything that it matches"});
}

TEST(RuleLint, ReportsEmptyAlternatives) {
  for (const char* pattern : {"rm|", "|rm", "a||b", "(|rm)x", "(rm|)"})
    EXPECT_EQ(findings(rule("run_shell", pattern)).size(), 1U) << pattern;
  for (const char* pattern : {"rm", "a|b", "\\||x", "\\(|x", "[|]", "a\\|", "(a|b)"})
    EXPECT_EQ(findings(rule("run_shell", pattern)), std::vector<std::string>{}) << pattern;
  EXPECT_NE(findings(rule("run_shell", "rm|"))[0].find("matches every text"), std::string::npos);
}

TEST(RuleLint, ReportsPatternsThatCanNeverMatch) {
  for (const char* pattern : {"a^b", "git$ push", "$a|b^", "ls$x+"})
    EXPECT_EQ(findings(rule("run_shell", pattern)).size(), 1U) << pattern;
  for (const char* pattern : {"^a", "a$", "a$|^b", "(a)?^b", "a*^b", "$a*", "$a?b*", "a\\^b", "[a^]b",
                              "\\b^a", "(?m)a$b", "a$\\b", "x|a^b"})
    EXPECT_EQ(findings(rule("run_shell", pattern)), std::vector<std::string>{}) << pattern;
}

TEST(RuleLint, ReportsAnExampleThatAnotherRuleDecides) {
  const auto found = findings(R"({"tool": "run_shell", "args": {"cmd": "gi."}, "action": "ask"},
    {"tool": "run_shell", "args": {"cmd": "^git"}, "action": "allow", "match": ["git log"]})");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(
      found[0],
      "permissions.rules[1] r.json:3: its example on line 3 is decided before by permissions.rules[0]: ask");
}

}  // namespace
}  // namespace cloche
