// Rules that never decide are found, and rules that do decide are left in peace.
#include <gtest/gtest.h>

#include "base/json/json_writer.hpp"
#include "policy/rules/rule_lint.hpp"

namespace cloche {
namespace {

std::vector<std::string> findings(const std::string& rules, const std::vector<ToolArguments>& own = {}) {
  const auto json = read_json("{\"rules\": [\n" + rules + "]}", "r.json");
  EXPECT_TRUE(json.ok()) << rules;
  const auto file = RuleFile::read(&json.value(), "r.json");
  EXPECT_TRUE(file.ok()) << (file.ok() ? "" : file.error().what.text());
  std::vector<std::string> texts;
  for (const auto& finding : lint(file.value(), own)) texts.push_back(finding.rule + ": " + finding.what);
  return texts;
}

std::string rule(const char* tool, const char* pattern, const char* action = "deny") {
  return std::string("{\"tool\": \"") + tool + "\", \"action\": \"" + action + "\"" +
         (pattern == nullptr ? "}" : ", \"args\": {\"cmd\": " + json_quote(pattern) + "}}");
}

std::string rule_on(const char* tool, const char* argument, const char* pattern) {
  return std::string("{\"tool\": \"") + tool + "\", \"action\": \"deny\", \"args\": {\"" + argument +
         "\": " + json_quote(pattern) + "}}";
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
      {rule("run_shell", "(?m)^a"), rule("run_shell", "(?m)^a"), true},
      {rule("run_shell", ".*"), rule("run_shell", "rm"), true},
      {rule("run_shell", "^"), rule("run_shell", "rm"), true},
      {rule("run_shell", "^.*$"), rule("run_shell", "rm"), true},
      {rule("run_shell", ""), rule("run_shell", "rm"), true},
      {rule("run_shell", ".*"), rule("run_shell", nullptr), true},  // no call comes without cmd
      {rule("*", ".*"), rule("run_shell", nullptr), true},
      {rule_on("*", "command", ".*"), rule("run_shell", "rm"), true},
      {rule_on("*", "command", ".*"), rule_on("*", "cmd", "rm"), false},
      {rule("run_shell", "rm"), rule("*", "rm"), false},
      {rule("run_shell", "rm"), rule("run_shell", nullptr), false},
      {rule("run_shell", ".*"), rule("*", nullptr), false},
      {rule("run_shell", "^git push"), rule("run_shell", "^git "), false},
      {rule("run_shell", "sudo rm"), rule("run_shell", "sudo"), false},
      {rule_on("run_shell", "stdin", ".*"), rule("run_shell", "rm"), false},  // which not every call has
      {rule_on("run_script", "code", ".*"), rule("run_script", nullptr), false},
      // Patterns are compared by their letters: what these mean is not known.
      {rule("run_shell", "^git "), rule("run_shell", "^git push"), false},
      {rule("run_shell", "rm|sudo"), rule("run_shell", "sudo"), false},
      {rule("run_shell", "."), rule("run_shell", nullptr), false},
  };
  for (const auto& [first, second, shadowed] : rows)
    EXPECT_EQ(findings(first + ",\n" + second).size(), shadowed ? 1U : 0U) << first << " then " << second;
}

TEST(RuleLint, ComparesEveryArgument) {
  const std::string both = R"({"tool": "run_shell", "args": {"cmd": "a", "stdin": "b"}, "action": "deny"})";
  const std::string turned = R"({"tool": "run_shell", "args": {"stdin": "b", "cmd": "a"}, "action": "ask"})";
  EXPECT_EQ(findings(both + ",\n" + turned).size(), 1U);
  EXPECT_EQ(findings(both + ",\n" + rule("run_shell", "a")).size(), 0U);
  const std::string any = R"({"tool": "run_shell", "args": {"cmd": ".*", "stdin": ""}, "action": "deny"})";
  EXPECT_EQ(findings(any + ",\n" + both).size(), 1U);
  EXPECT_EQ(findings(any + ",\n" + rule("run_shell", "a")).size(), 0U) << "a call without stdin";
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

TEST(RuleLint, KnowsTheNamesOfArguments) {
  struct Row {
    const char* tool;
    const char* argument;
    const char* pattern;
    const char* finding;  // "": none
  };
  const Row rows[] = {
      {"run_shell", "argv", "rm", "run_shell has no argument argv; it has cmd, profile, timeout_s, stdin"},
      {"run_shell", "Cmd", "rm", "run_shell has no argument Cmd"},
      {"run_shell", "command", "rm", ""},
      {"run_shell_command", "command", "rm", ""},
      {"run_*", "command", "rm", ""},
      {"*", "Cmd", "rm", "no known tool that * matches has an argument Cmd; right for an executor"},
      {"*_artifact", "path", "^src/", ""},
      {"*_artifact", "cmd", "rm", "no known tool that *_artifact matches has an argument cmd"},
      {"write_artifact", "command", "rm", "write_artifact has no argument command; it has path, content"},
      {"run_shell", "profile", "^full$", ""},
      {"run_shell", "timeout_s", "^[0-9]{4,}$", ""},
      {"run_shell", "stdin", "^$", ""},
      {"run_shel", "cmd", "rm",
       "never decides: no tool of the name run_shel is known; did you mean run_shell?"},
      {"Run_shell", "cmd", "rm", "did you mean run_shell?"},
      {"run_shlel", "cmd", "rm", "did you mean run_shell?"},
      {"http_gt", "url", "x", "did you mean http_get?"},
      {"read_artifacts", "path", "x", "did you mean read_artifact?"},
      {"bash", "command", "rm", "no shipped tool has the name bash; right for an executor of yours"},
      {"word_count", "text", "x", "no shipped tool has the name word_count; right for an executor of yours"},
      {"shell*", "cmd", "rm", "no shipped tool has the name shell*; right for an executor of yours"},
      {"run_shell_*", "command", "rm", ""},
      {"http_get", "url", "^https://", ""},
  };
  for (const auto& row : rows) {
    const auto found = findings(rule_on(row.tool, row.argument, row.pattern));
    ASSERT_EQ(found.size(), *row.finding == '\0' ? 0U : 1U) << row.tool << " " << row.argument;
    for (const auto& text : found) EXPECT_NE(text.find(row.finding), std::string::npos) << text;
  }
}

TEST(RuleLint, KnowsTheUsersOwnTools) {
  const auto schemas = read_json(R"([{"properties": {"text": {}, "mode": {}}, "additionalProperties": false},
                                     {"properties": {"text": {}}}])",
                                 "");
  const std::vector<ToolArguments> own = {arguments_of("word_count", schemas.value().items[0]),
                                          arguments_of("wc", schemas.value().items[1])};
  struct Row {
    const char* tool;
    const char* argument;
    const char* finding;  // "": none
  };
  const Row rows[] = {
      {"word_count", "text", ""},
      {"word_*", "mode", ""},
      {"*", "mode", ""},
      {"word_count", "txt", "never decides: word_count has no argument txt; it has text, mode"},
      {"wc", "text", ""},
      {"wc", "lines", ": wc has no argument lines; it has text, and takes others"},
      {"word_cont", "text", "did you mean word_count?"},
      {"ls", "text", "no shipped tool has the name ls; right for an executor of yours"},
  };
  for (const auto& row : rows) {
    const auto found = findings(rule_on(row.tool, row.argument, "x"), own);
    ASSERT_EQ(found.size(), *row.finding == '\0' ? 0U : 1U) << row.tool << " " << row.argument;
    for (const auto& text : found) EXPECT_NE(text.find(row.finding), std::string::npos) << text;
  }
}

// A rule about a tool that is not known here is still compared with those before it.
TEST(RuleLint, FindsShadowsOfUnknownTools) {
  const auto found = findings(rule("*", nullptr) + ",\n" + rule("word_count", "a"));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NE(found[1].find("matches everything that it matches"), std::string::npos) << found[1];
}

TEST(RuleLint, LeavesSensibleRulesInPeace) {
  const std::vector<std::string> sets[] = {
      {},
      {rule("*", nullptr, "ask")},
      {rule("run_shell", "rm\\s+-rf|sudo"), rule("run_shell", "^(git|ls|cat|grep) ", "allow")},
      {rule("run_shell", "^git push"), rule("run_shell", "^git ", "allow"),
       rule("run_shell", nullptr, "ask")},
      {rule("run_shell", "\\brm\\b.*-[a-z]*r"), rule("run_shell", "\\b(rm|dd|mkfs)\\b", "ask")},
      {rule("run_shell", "(?i)password|secret|token"), rule("run_shell", "^curl ", "ask"),
       rule("run_shell", "^(curl|wget) --help$", "allow")},
      {rule("run_shell", "^(npm|yarn|pnpm) (install|add)", "ask"),
       rule("run_shell", "^(npm|yarn|pnpm) ", "allow")},
      {rule("run_shell", "^python3 -c "), rule("run_shell", "^python3( |$)", "allow"),
       rule("run_*", nullptr, "ask")},
      {rule_on("write_artifact", "path", "(^|/)\\.git/"), rule_on("*_artifact", "path", "^(src|tests)/"),
       rule_on("http_get", "url", "^https://([a-z0-9-]+\\.)*example\\.org/"), rule("*", nullptr)},
      {rule("run_shell", "'[^']*[|;&<>][^']*'", "ask"), rule("run_shell", "^make( [a-z_-]+)*$", "allow")},
      {rule("run_shell", "^git (status|log|diff)( |$)", "allow"), rule("run_shell", "^git ", "ask"),
       rule("run_shell", "git", "deny")},
      {rule("run_shell", "^.{200,}$", "ask"), rule("run_shell", "^[\\x20-\\x7e]*$", "allow")},
  };
  for (const auto& set : sets) {
    std::string text;
    for (const auto& one : set) text += (text.empty() ? "" : ",\n") + one;
    EXPECT_EQ(findings(text), std::vector<std::string>{}) << text;
  }
}

TEST(RuleLint, WhatNeverDecidesIsAFaultAndTheRestIsANote) {
  const auto weights = [](const std::string& rules) {
    const auto json = read_json("{\"rules\": [" + rules + "]}", "r.json");
    std::vector<RuleFinding::Weight> found;
    for (const auto& finding : lint(RuleFile::read(&json.value(), "r.json").value()))
      found.push_back(finding.weight);
    return found;
  };
  using Weight = RuleFinding::Weight;
  EXPECT_EQ(weights(rule("run_shell", "(rm|)x")), std::vector{Weight::note});
  EXPECT_EQ(weights(rule("run_shel", "a")), std::vector{Weight::fault});
  EXPECT_EQ(weights(rule("word_count", "a")), std::vector{Weight::note});
  EXPECT_EQ(weights(rule_on("*", "text", "a")), std::vector{Weight::note});
  EXPECT_EQ(weights(rule_on("run_shell", "text", "a")), std::vector{Weight::fault});
  EXPECT_EQ(weights(rule("*", nullptr) + "," + rule("run_shell", "a")), std::vector{Weight::fault});
}

TEST(RuleLint, ReportsAnExampleThatAnotherRuleDecides) {
  const auto found = findings(R"({"tool": "run_shell", "args": {"cmd": "^git l"}, "action": "ask"},
    {"tool": "run_shell", "args": {"cmd": "^git"}, "action": "allow", "match": ["git log"]})");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(
      found[0],
      "permissions.rules[1] r.json:3: its example on line 3 is decided before by permissions.rules[0]: ask");
}

}  // namespace
}  // namespace cloche
