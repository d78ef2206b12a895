// Random rules over random calls: what must hold for every one of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "base/json/json_writer.hpp"
#include "base/text/command_words.hpp"
#include "policy/rules/pattern.hpp"
#include "policy/rules/rule_lint.hpp"
#include "policy/rules/rules.hpp"

namespace cloche {
namespace {

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  template <typename List>
  std::string pick(const List& list) {
    return list[below(std::size(list))];
  }
  size_t below(size_t bound) { return random_() % bound; }

  std::string pattern() {
    static const char* parts[] = {
        "rm",  "-rf",    "sudo",    "^git",   "push$",    "a|b",    "[0-9]+", "(?i)SUDO", "\\s",      "x?",
        "^$",  ".*",     "ls|cat ", "(ab)+c", "\\bk\\b",  "ü",      "(?i)k",  "f{2}",     "[^a-z]",   "rm|",
        "a.c", "^[a-c]", "(?i)ß",   "(?i)kk", "(?i)desk", "\\.py$", "(x|y)z", "--force",  "\\Qa+b\\E"};
    return pick(parts) + (below(3) == 0 ? pick(parts) : "");
  }

  std::string rule(const char* action = nullptr) {
    static const char* tools[] = {"run_shell", "run_shell_command", "*", "write_artifact",
                                  "run_*",     "r?n_shell"};
    static const char* actions[] = {"allow", "ask", "deny"};
    static const char* names[] = {"cmd", "cmd", "cmd", "command", "path"};
    std::string text = "{\"tool\": \"" + pick(tools) + "\", \"action\": \"" +
                       (action != nullptr ? action : pick(actions)) + "\"";
    if (below(8) != 0) text += ", \"args\": {\"" + pick(names) + "\": " + json_quote(pattern()) + "}";
    return text + "}";
  }

  std::vector<std::string> rules(size_t most) {
    std::vector<std::string> list;
    for (size_t left = below(most + 1); left > 0; --left) list.push_back(rule());
    return list;
  }

  std::string otherwise() {
    static const char* all[] = {"", "", ", \"default\": \"allow\"", ", \"default\": \"ask\"",
                                ", \"default\": \"deny\""};
    return pick(all);
  }

  RuleCall call() {
    static const char* words[] = {"rm",           "-rf",   "sudo",    "SUDO", "git",
                                  "push",         "a",     "b",       "abc",  "12",
                                  "ls",           "cat",   "ü",       "k",    "K",
                                  "\u212a",       "ſudo",  "ff",      "xz",   ".py",
                                  "a+b",          "-f",    "--force", "ß",    "DE\u017f\u212a",
                                  "\u212a\u212a", "GRÜSSE"};
    std::string text;
    for (size_t left = below(5); left > 0; --left) text += (text.empty() ? "" : " ") + pick(words);
    static const char* tools[] = {"run_shell", "run_shell", "write_artifact", "run_python"};
    RuleCall call{pick(tools)};
    if (below(6) != 0) call.arguments["cmd"] = text;
    if (below(4) == 0) call.arguments["path"] = text;
    if (below(3) == 0) call.runs = text + " " + pick(words);
    return call;
  }

 private:
  std::mt19937 random_;
};

RuleFile file_of(const std::vector<std::string>& rules, const std::string& otherwise) {
  std::string text = "{\"rules\": [";
  for (size_t i = 0; i < rules.size(); ++i) text += (i == 0 ? "" : ",\n") + rules[i];
  const auto json = read_json(text + "]" + otherwise + "}", "generated");
  EXPECT_TRUE(json.ok()) << text;
  auto file = RuleFile::read(&json.value(), "generated");
  EXPECT_TRUE(file.ok()) << text << (file.ok() ? "" : file.error().what.text());
  return std::move(file).value();
}

const Rule* first_by_hand(const RuleFile& file, const RuleCall& call) {
  for (const auto& rule : file.rules())
    if (matches(rule, call)) return &rule;
  return nullptr;
}

// Whether the set answers or each pattern is asked by itself, the rule that decides is the same.
void compare_with_a_loop(const RuleFile& file, Generator& generate, int calls, size_t& decided) {
  for (; calls > 0; --calls) {
    const RuleCall call = generate.call();
    const Rule* expected = first_by_hand(file, call);
    decided += expected != nullptr ? 1 : 0;
    ASSERT_EQ(file.first_match(call), expected) << (expected != nullptr ? expected->id : "none");
  }
}

TEST(RulesProperties, ManyRulesDecideAsALoopOverThemDoes) {
  Generator generate(1);
  size_t decided = 0;
  for (int round = 0; round < 150; ++round)
    compare_with_a_loop(file_of(generate.rules(round % 2 == 0 ? 300 : 60), ""), generate, 60, decided);
  EXPECT_GT(decided, 1000U);
}

// The rules of one large file: together they are more than a set has memory for.
TEST(RulesProperties, RulesThatNoSetHoldsDecideAsALoopOverThemDoes) {
  Generator generate(7);
  std::vector<std::string> rules;
  std::vector<std::shared_ptr<const RE2>> patterns;
  for (int i = 0; i < 800; ++i) {
    const std::string large = generate.pattern() + "|q{800}z" + std::to_string(i);
    rules.push_back(R"({"tool": "run_shell", "action": "deny", "args": {"cmd": )" + json_quote(large) + "}}");
    patterns.push_back(compile_pattern(large, Dot::matches_newline).value());
  }
  EXPECT_FALSE(PatternSet(patterns).find("ls")) << "the control: the set has failed";
  EXPECT_TRUE(PatternSet(patterns, 8 * PatternSet::most_set_bytes).find("ls")) << "for its memory alone";
  const RuleFile file = file_of(rules, "");
  size_t decided = 0;
  compare_with_a_loop(file, generate, 40, decided);
  EXPECT_GT(decided, 10U);
}

TEST(RulesProperties, ADenyRuleNeverAllowsMore) {
  Generator generate(2);
  for (int round = 0; round < 300; ++round) {
    auto rules = generate.rules(12);
    const std::string otherwise = generate.otherwise();
    const RuleFile before = file_of(rules, otherwise);
    const size_t where = generate.below(rules.size() + 1);
    rules.insert(rules.begin() + static_cast<ptrdiff_t>(where), generate.rule("deny"));
    const RuleFile after = file_of(rules, otherwise);
    for (int calls = 0; calls < 40; ++calls) {
      const RuleCall call = generate.call();
      EXPECT_GE(rules_gate({.user = after}, call).decision, rules_gate({.user = before}, call).decision);
      EXPECT_GE(rules_gate({.user = after}, call).decision, rules_gate({}, call).decision);
    }
  }
}

// As a tool gives its arguments to the rules: its own alone, and a command in its one quoting.
std::optional<RuleCall> as_normalised(const RuleCall& call) {
  RuleCall plain{call.tool};
  if (call.tool == "run_shell") {
    const auto text = call.arguments.find("cmd");
    const SplitWords split = split_words(text == call.arguments.end() ? "" : text->second);
    if (!split.problem.empty()) return std::nullopt;
    plain.arguments["cmd"] = quote_words(split.words);
  } else if (call.tool == "write_artifact" && call.arguments.contains("path")) {
    plain.arguments["path"] = call.arguments.at("path");
  }
  return plain;
}

// What will run is matched as what was asked is: a rule that is about either is about the call.
TEST(RulesProperties, ARuleMatchesWhatWasAskedOrWhatRuns) {
  Generator generate(6);
  size_t by_what_runs = 0;
  for (int round = 0; round < 300; ++round) {
    const RuleFile file = file_of(generate.rules(12), "");
    for (int calls = 0; calls < 40; ++calls) {
      const RuleCall both = generate.call();
      if (!both.runs || !both.arguments.contains("cmd")) continue;
      RuleCall asked = both, runs = both;
      asked.runs = runs.runs = std::nullopt;
      runs.arguments["cmd"] = *both.runs;
      for (const auto& rule : file.rules()) {
        EXPECT_EQ(matches(rule, both), matches(rule, asked) || matches(rule, runs)) << rule.id;
        by_what_runs += matches(rule, runs) && !matches(rule, asked) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(by_what_runs, 100U);
}

TEST(RulesProperties, WhatIsSaidToNeverDecideNeverDoes) {
  Generator generate(5);
  size_t reported = 0;
  for (int round = 0; round < 300; ++round) {
    const RuleFile file = file_of(generate.rules(12), "");
    std::set<std::string> idle;
    for (const auto& finding : lint(file))
      if (finding.what.starts_with("never decides"))
        idle.insert(finding.rule.substr(0, finding.rule.find(' ')));
    reported += idle.size();
    for (int calls = 0; calls < 40; ++calls) {
      const auto call = as_normalised(generate.call());
      const Rule* rule = call ? file.first_match(*call) : nullptr;
      EXPECT_FALSE(rule != nullptr && idle.contains(rule->id)) << rule->id;
    }
  }
  EXPECT_GT(reported, 100U);
}

TEST(RulesProperties, WithinAFileTheOrderDecides) {
  Generator generate(3);
  for (int round = 0; round < 300; ++round) {
    const auto rules = generate.rules(12);
    const RuleFile file = file_of(rules, "");
    for (int calls = 0; calls < 20; ++calls) {
      const RuleCall call = generate.call();
      const Rule* rule = first_by_hand(file, call);
      const Verdict verdict = rules_gate({.user = file}, call);
      EXPECT_EQ(verdict.decision, rule != nullptr ? rule->action : Decision::deny);
      // What stands behind the rule that decided has no say.
      if (rule == nullptr) continue;
      const auto kept = static_cast<ptrdiff_t>(rule - file.rules().data()) + 1;
      const RuleFile shorter = file_of({rules.begin(), rules.begin() + kept}, "");
      EXPECT_EQ(rules_gate({.user = shorter}, call).decision, verdict.decision);
    }
  }
}

TEST(RulesProperties, AcrossFilesTheStrictestWinsAndAProjectNeverLoosens) {
  Generator generate(4);
  const auto any_file = [&]() -> std::optional<RuleFile> {
    if (generate.below(4) == 0) return std::nullopt;
    if (generate.below(4) == 0) return RuleFile::read(nullptr, "absent").value();
    return file_of(generate.rules(6), generate.otherwise());
  };
  for (int round = 0; round < 500; ++round) {
    const RuleFiles files{any_file(), any_file(), any_file()};
    for (int calls = 0; calls < 20; ++calls) {
      const RuleCall call = generate.call();
      Decision strictest = Decision::allow;
      for (const auto* file : {&files.managed, &files.user, &files.project})
        if (*file)
          if (const auto verdict = (*file)->judge(call)) strictest = std::max(strictest, verdict->decision);
      const Verdict together = rules_gate(files, call);
      EXPECT_EQ(together.decision, strictest);
      EXPECT_GE(together.decision, rules_gate({files.managed, files.user, {}}, call).decision);
      EXPECT_EQ(rules_gate(files, call).rule, together.rule) << "same input, same answer";
    }
  }
}

}  // namespace
}  // namespace cloche
