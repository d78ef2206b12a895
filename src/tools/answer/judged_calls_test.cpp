// Calls from their JSON to decide(): total, pure, strictest wins; a model's arguments only narrow; one call
// has one verdict however it is spelled.
#include <gtest/gtest.h>

#include <random>
#include <type_traits>

#include "base/json/json_writer.hpp"
#include "policy/gates/decide.hpp"
#include "policy/gates/gates.hpp"
#include "policy/shapes/shapes_fixture.hpp"
#include "tools/commands/run_shell.hpp"
#include "tools/registry_fixture.hpp"

namespace cloche {
namespace {

using Words = std::vector<std::string>;

static_assert(!std::is_copy_constructible_v<Permit> && !std::is_default_constructible_v<Permit> &&
              !std::is_constructible_v<Permit, Prepared>);

const Shapes& shapes() { return shipped_shapes(); }

// The whole way of a call, with a world of one rule: ".." and "/" lead out of /ws.
Case case_of(const std::string& arguments, CommandProfile ceiling = CommandProfile::full) {
  Case c;
  c.call = {"run_shell", arguments};
  c.intent = understand(c.call);
  c.ceilings.commands = c.ceilings.unasked = ceiling;
  c.ceilings.loadout = std::nullopt;
  c.ceilings.level = Autonomy::supervised;
  c.facts.workspace = "/ws";
  c.schema = {GateId::schema, Decision::allow};
  c.rules = {GateId::rules, Decision::allow};
  for (const auto& path : paths_to_observe(c.intent, c.ceilings, shapes())) {
    const bool out = path.find("..") != std::string::npos || path[0] == '/';
    c.facts.operands.push_back({.written = path, .resolved = out ? "/out" : "/ws/" + path});
  }
  return c;
}

std::string cmd(const std::string& text, const std::string& more = "") {
  return "{\"cmd\":" + json_quote(text) + more + "}";
}

std::string argv(const Words& words, const std::string& more = "") {
  JsonWriter out;
  out.begin_array();
  for (const auto& word : words) out.value(word);
  return "{\"argv\":" + out.end_array().text() + more + "}";
}

std::string summary(const Judgement& judgement) {
  std::string text(name_of(judgement.decision));
  for (const auto& verdict : judgement.gates) {
    text += "|" + std::string(name_of(verdict.gate)) + ":" + std::string(name_of(verdict.decision)) + ":" +
            verdict.reason.text() + ":" + verdict.rule + ":" + verdict.fix.text() + ":" +
            verdict.instead.text();
  }
  if (judgement.launch) text += "|" + quote_words(judgement.launch->argv);
  return text;
}

TEST(Decide, EveryGateAnswersInOrder) {
  for (const std::string& arguments : Words{cmd("ls"), cmd("ls | x"), cmd("'"), "{", "[]", ""}) {
    const Judgement judgement = decide(case_of(arguments), shapes());
    ASSERT_EQ(judgement.gates.size(), 9U);
    for (size_t i = 0; i < 9; ++i) EXPECT_EQ(judgement.gates[i].gate, static_cast<GateId>(i));
  }
}

TEST(Decide, ACaseThatNobodyFilledInIsDenied) {
  const Judgement judgement = decide(Case{}, shapes());
  EXPECT_EQ(judgement.decision, Decision::deny);
  EXPECT_FALSE(judgement.permit || judgement.launch);
  EXPECT_EQ(judgement.gates.size(), 9U);
}

TEST(Decide, TheStrictestWinsAndOnlyAllowGivesAPermit) {
  for (auto schema : {Decision::allow, Decision::ask, Decision::deny}) {
    for (auto rules : {Decision::allow, Decision::ask, Decision::deny}) {
      for (const std::string text : {"ls", "ls | x", "cat ../x"}) {
        Case c = case_of(cmd(text));
        c.schema.decision = schema;
        c.rules.decision = rules;
        const Judgement asked = decide(c, shapes());
        const Judgement judgement = decide(c, shapes(), Prepared{.digest = "d"});
        const Decision expected = std::max({schema, rules, text == "ls" ? Decision::allow : Decision::deny});
        EXPECT_EQ(judgement.decision, expected);
        EXPECT_EQ(judgement.permit.has_value(), expected == Decision::allow);
        EXPECT_EQ(judgement.waiting.has_value(), expected == Decision::ask);
        EXPECT_EQ(asked.decision, expected);
        EXPECT_EQ(asked.launch.has_value(), expected != Decision::deny);
        EXPECT_FALSE(asked.permit) << "nothing was prepared for it";
      }
    }
  }
}

TEST(Decide, AVerdictFromOutsideCannotSpeakForAnotherGate) {
  Case c = case_of(cmd("ls"));
  c.rules = {GateId::approval, Decision::ask, "why"};
  const Judgement judgement = decide(c, shapes());
  EXPECT_EQ(judgement.gates[7].gate, GateId::rules);
  EXPECT_EQ(judgement.by, GateId::rules);
}

TEST(Decide, AnAnswerSettlesAQuestionAndNothingElse) {
  Case c = case_of(cmd("ls"));
  c.rules = {GateId::rules, Decision::ask, "the rule asks"};
  EXPECT_EQ(decide(c, shapes()).decision, Decision::ask);
  c.answer = Decision::ask;
  EXPECT_EQ(decide(c, shapes()).decision, Decision::ask);
  c.answer = Decision::deny;
  EXPECT_EQ(decide(c, shapes()).decision, Decision::deny);
  EXPECT_EQ(decide(c, shapes()).by, GateId::approval);
  c.answer = Decision::allow;
  const Judgement approved = decide(c, shapes(), Prepared{.digest = "d"});
  EXPECT_EQ(approved.decision, Decision::allow);
  EXPECT_EQ(approved.permit->launch().argv, (Words{"ls"}));
  EXPECT_EQ(approved.permit->digest(), "d");
  c.rules.decision = Decision::deny;
  EXPECT_EQ(decide(c, shapes()).decision, Decision::deny) << "a yes does not undo a no";
  c.answer = Decision::deny;
  c.rules.decision = Decision::allow;
  EXPECT_EQ(decide(c, shapes()).decision, Decision::allow) << "no approver was asked";
}

TEST(Decide, ThePermitCarriesTheHardenedCommand) {
  const Judgement judgement = decide(case_of(cmd("mypy a.py"), CommandProfile::passive), shapes(), {});
  ASSERT_TRUE(judgement.permit);
  EXPECT_EQ(quote_words(judgement.permit->launch().argv),
            "mypy --config-file= --cache-dir=/dev/null -- a.py");
  const Judgement any = decide(case_of(cmd("mypy a.py"), CommandProfile::any), shapes(), {});
  ASSERT_TRUE(any.permit);
  EXPECT_EQ(quote_words(any.permit->launch().argv), "mypy a.py");
  EXPECT_FALSE(any.permit->launch().noexec);
}

TEST(Decide, EveryWordMayNameAFileThatAnApprovalCovers) {
  for (auto ceiling : {CommandProfile::full, CommandProfile::any}) {
    const Judgement judgement = decide(case_of(cmd("python3 a.py --config=b.ini c"), ceiling), shapes());
    EXPECT_EQ(judgement.launch->named_files, (Words{"python3", "a.py", "--config=b.ini", "c"}));
  }
}

TEST(Decide, OnlyHarmlessNamesOfTheEnvironmentPass) {
  Case c = case_of(cmd("ls"));
  c.ceilings.pass_env = {"CI", "AWS_SECRET_ACCESS_KEY", "PYTHONPATH", "LANG"};
  const Judgement judgement = decide(c, shapes(), {});
  ASSERT_TRUE(judgement.permit);
  EXPECT_EQ(judgement.permit->launch().pass_env, (Words{"CI", "LANG"}));
}

const Words pool = {"ls",       "cat",   "python3", "head",        "-n",    "5",    "-la",
                    "a.py",     "b.txt", "../x",    "/etc/passwd", "-m",    "-c",   "py_compile",
                    "print(1)", "x y",   "'",       "|",           "$HOME", "*",    "--out=/x",
                    "",         "go",    "vet",     "./...",       "npm",   "test", "A=1",
                    "\xc3\xa4", "~",     "pytest",  "rm",          "-rf",   "\\",   "\"q\""};

Words random_argv(std::mt19937& random) {
  Words words;
  for (size_t n = 1 + random() % 5; n > 0; --n) words.push_back(pool[random() % pool.size()]);
  return words;
}

TEST(DecideProperty, SameInputSameAnswer) {
  std::mt19937 random(11);
  for (int round = 0; round < 3000; ++round) {
    const Case c = case_of(argv(random_argv(random)));
    ASSERT_EQ(summary(decide(c, shapes())), summary(decide(c, shapes())));
  }
}

TEST(DecideProperty, CmdAndArgvAreOneCall) {
  std::mt19937 random(12);
  size_t allowed = 0;
  for (int round = 0; round < 10'000; ++round) {
    const Words words = random_argv(random);
    for (auto ceiling : {CommandProfile::passive, CommandProfile::full, CommandProfile::any}) {
      const Judgement by_words = decide(case_of(argv(words), ceiling), shapes());
      const Judgement by_text = decide(case_of(cmd(quote_words(words)), ceiling), shapes());
      if (problem_of(words).empty()) {
        ASSERT_EQ(summary(by_words), summary(by_text)) << quote_words(words);
      }
      ASSERT_EQ(by_words.decision, by_text.decision) << quote_words(words);
      allowed += by_text.decision == Decision::allow ? 1 : 0;
    }
    ASSERT_EQ(normalised_arguments(understand({"run_shell", argv(words)})).at("cmd"), quote_words(words));
  }
  EXPECT_GT(allowed, 1000U);
}

// Whatever a call asks for, it gets no more than the call that asks for nothing does at its ceiling.
TEST(DecideProperty, ArgumentsOnlyNarrow) {
  std::mt19937 random(13);
  for (int round = 0; round < 5000; ++round) {
    const Words words = random_argv(random);
    for (auto ceiling : {CommandProfile::passive, CommandProfile::full, CommandProfile::any}) {
      const Judgement at_ceiling = decide(case_of(argv(words), ceiling), shapes());
      for (const std::string more :
           {",\"profile\":\"passive\"", ",\"profile\":\"full\"", ",\"profile\":\"any\"", ",\"timeout_s\":9",
            ",\"stdin\":\"x\"", ",\"sandbox\":\"off\""}) {
        const Judgement asked = decide(case_of(argv(words, more), ceiling), shapes());
        // Under any the kernel answers for paths, so only the narrower profiles have an opinion on them.
        ASSERT_GE(asked.decision, at_ceiling.decision) << quote_words(words) << more;
      }
    }
  }
}

// Adding a refusal never allows more.
TEST(DecideProperty, AStricterRuleNeverAllowsMore) {
  std::mt19937 random(14);
  for (int round = 0; round < 3000; ++round) {
    Case c = case_of(argv(random_argv(random)));
    Decision last = Decision::allow;
    for (auto rules : {Decision::allow, Decision::ask, Decision::deny}) {
      c.rules.decision = rules;
      const Decision now = decide(c, shapes()).decision;
      ASSERT_GE(now, last);
      last = now;
    }
    ASSERT_EQ(last, Decision::deny);
  }
}

}  // namespace
}  // namespace cloche
