// The words of `cloche explain call`, and how an explanation looks.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "doors/cli/call_arguments.hpp"
#include "doors/cli/explain_command.hpp"

namespace cloche {
namespace {

using Words = std::vector<std::string>;

Result<CallArguments> parse(Words words) {
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  return parse_call(argv, CallCommand::explain);
}

TEST(CallArguments, WithoutFlagsACallHasPassiveAndMayAskForFull) {
  const auto parsed = parse({"run_shell", "{}"});
  ASSERT_TRUE(parsed.ok());
  const Ceilings& ceilings = parsed.value().options.ceilings;
  EXPECT_EQ(ceilings.commands, CommandProfile::full);
  EXPECT_EQ(ceilings.unasked, CommandProfile::passive);
  EXPECT_FALSE(ceilings.loadout);
  EXPECT_FALSE(ceilings.network);
  EXPECT_TRUE(ceilings.hosts.empty() && ceilings.pass_env.empty());
  EXPECT_EQ(ceilings.level, Autonomy::supervised);
  EXPECT_EQ(parsed.value().call.tool, "run_shell");
  EXPECT_EQ(parsed.value().call.arguments, "{}");
}

TEST(CallArguments, OnlyAServerKeepsAProgramWarm) {
  std::string words[] = {"--warm", "python3"};
  std::vector<char*> argv = {words[0].data(), words[1].data()};
  const auto server = parse_call(argv, CallCommand::mcp);
  ASSERT_TRUE(server.ok());
  EXPECT_EQ(server.value().options.warm, Words{"python3"});
  EXPECT_FALSE(parse_call(argv, CallCommand::tools).ok());
  for (const char* item : {"ruby", "python3:", "python3:a,", "python3:a b", "python3:'"}) {
    words[1] = item;
    argv[1] = words[1].data();
    EXPECT_FALSE(parse_call(argv, CallCommand::mcp).ok()) << item;
  }
}

TEST(CallArguments, EachFlagAsksForOneThing) {
  const std::pair<Words, std::function<bool(const CallArguments&)>> rows[] = {
      {{"--json"}, [](const auto& a) { return a.json; }},
      {{"--commands", "passive"},
       [](const auto& a) { return a.options.ceilings.commands == CommandProfile::passive; }},
      {{"--commands=any"}, [](const auto& a) { return a.options.ceilings.unasked == CommandProfile::any; }},
      {{"--workspace", "x"}, [](const auto& a) { return a.options.operators.workspace == "x"; }},
      {{"--profile", "readonly"},
       [](const auto& a) { return a.options.operators.profile == Profile::readonly; }},
      {{"--allow-protected", ".envrc", "--allow-protected=a"},
       [](const auto& a) {
         return a.options.operators.allow_protected == std::vector<std::string>{".envrc", "a"};
       }},
      {{"--ro", "/x"}, [](const auto& a) { return a.options.operators.grants.at(0).source == "/x"; }},
      {{"--pass-env", "CI"}, [](const auto& a) { return a.options.ceilings.pass_env == Words{"CI"}; }},
      {{"--net", "a.org", "--net=localhost:80"},
       [](const auto& a) {
         return a.options.ceilings.hosts == Words{"a.org", "localhost:80"} &&
                a.options.operators.profile == Profile::workspace_write;
       }},
      {{"--net-any"}, [](const auto& a) { return a.options.ceilings.hosts == Words{"*"}; }},
      {{"--net", "a.org", "--profile", "readonly"},
       [](const auto& a) { return a.options.operators.profile == Profile::readonly; }},
      {{"--timeout", "5s"}, [](const auto& a) { return a.options.operators.limits.wall_ms == 5000; }},
      {{"--autonomy", "full"}, [](const auto& a) { return a.options.ceilings.level == Autonomy::full; }},
  };
  for (const auto& [flags, holds] : rows) {
    for (bool before : {true, false}) {
      Words words = {"run_shell", "{}"};
      words.insert(before ? words.begin() : words.end(), flags.begin(), flags.end());
      const auto parsed = parse(words);
      ASSERT_TRUE(parsed.ok()) << flags[0] << parsed.error().what;
      EXPECT_TRUE(holds(parsed.value())) << flags[0];
    }
  }
}

TEST(CallArguments, TheRestIsRefused) {
  for (const Words& words :
       {Words{}, Words{"run_shell"}, Words{"a", "b", "c"}, Words{"a", "b", "--nope"},
        Words{"a", "b", "--json=1"}, Words{"a", "b", "--commands"}, Words{"a", "b", "--commands", "all"},
        Words{"a", "b", "--autonomy", "x"}, Words{"a", "b", "--profile", "a/x"},
        Words{"a", "b", "--net", "*"}, Words{"a", "b", "--net", "1.2.3.4"}, Words{"a", "b", "--net-any=x"},
        Words{"a", "b", "--skill", ""}, Words{"a", "b", "--format", "mcp"},
        Words{"a", "b", "--timeout", "0"}}) {
    EXPECT_FALSE(parse(words).ok()) << words.size();
  }
}

TEST(CallArguments, AWrongValueIsBadUsageAndWhatIsNotBuiltIsARefusal) {
  struct Row {
    const char* flag;
    const char* value;
    Cause cause;
    const char* says;
  };
  const Row rows[] = {
      {"--commands", "bogus", Cause::usage, "known are passive, full and any"},
      {"--autonomy", "x", Cause::usage, "known are readonly, supervised and full"},
      {"--profile", "../mine", Cause::usage, "is not the name of a profile"},
      {"--pass-env", "A=B", Cause::usage, "--pass-env A=B is not the name of a variable"},
      {"--pass-env", "", Cause::usage, "is not the name of a variable"},
      {"--pass-env", "1A", Cause::usage, "is not the name of a variable"},
      {"--allow-protected", "", Cause::usage, "needs a path"},
      {"--ro", "", Cause::usage, "is not SRC or SRC:DST"},
      {"--ro", "a:", Cause::usage, "is not SRC or SRC:DST"},
      {"--timeout", "x", Cause::usage, "--timeout x"},
      {"--skill", "", Cause::usage, "empty value"},
  };
  for (const auto& row : rows) {
    const auto result = parse({"run_shell", "{}", row.flag, row.value});
    ASSERT_FALSE(result.ok()) << row.flag;
    EXPECT_EQ(result.error().cause, row.cause) << row.flag << " " << row.value;
    EXPECT_NE(describe(result.error()).find(row.says), std::string::npos) << describe(result.error());
  }
}

TEST(CallArguments, AGrantIsWrittenAsForRun) {
  const auto result = parse({"run_shell", "{}", "--ro", "/a\\:b:/c"});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.value().options.operators.grants.at(0).source, "/a:b");
  EXPECT_EQ(result.value().options.operators.grants.at(0).target, "/c");
}

Judged denied() {
  Judged judged;
  judged.judgement.gates = {
      {GateId::shape, Decision::allow, "passive: cat FILE...", "cat share/commands/passive.json:41"},
      {GateId::path, Decision::deny, "\"x\" leaves", "", "stay"}};
  judged.judgement.by = GateId::path;
  return judged;
}

TEST(Explain, AsText) {
  EXPECT_EQ(explain_text(denied()),
            "shape     allow   passive: cat FILE...                                    "
            "share/commands/passive.json:41\n"
            "path      DENY    \"x\" leaves\n"
            "          fix     stay\n"
            "verdict   DENY by path\n");
}

TEST(Explain, AsJsonWithTheDocumentedKeys) {
  EXPECT_EQ(
      explain_json(denied()),
      R"({"decision":"deny","reason":"\"x\" leaves","gates":[{"gate":"shape","decision":"allow","reason":"passive: cat FILE...",)"
      R"("rule":"cat share/commands/passive.json:41","fix":"","instead":""},{"gate":"path","decision":"deny",)"
      R"("reason":"\"x\" leaves","rule":"","fix":"stay","instead":""}],"plan":null,"plan_digest":null,"notes":[]})"
      "\n");
  Judged asked;
  asked.judgement.decision = Decision::ask;
  asked.judgement.gates = {{GateId::rules, Decision::ask, "why"}};
  asked.judgement.by = GateId::rules;
  asked.judgement.waiting = Prepared{.digest = "sha256:0"};
  ConfinementPlan& plan = asked.judgement.waiting->plan;
  plan.argv = {"ls", "a b"};
  EXPECT_TRUE(explain_json(asked).ends_with(R"(,"plan":)" + to_json(plan) +
                                            R"(,"plan_digest":"sha256:0","notes":[]})" + "\n"))
      << explain_json(asked);
  EXPECT_NE(explain_text(asked).find("runs      ls 'a b'\n"), std::string::npos);
}

TEST(Explain, AnErrorHasTheSameKeysAndIsADenial) {
  EXPECT_EQ(
      explain_json(refusal("c.json:3: unknown key \"x\"", "leave it out")),
      R"({"decision":"deny","reason":"c.json:3: unknown key \"x\"; leave it out","gates":[],"plan":null,)"
      R"("plan_digest":null})"
      "\n");
}

}  // namespace
}  // namespace cloche
