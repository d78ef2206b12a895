// The permission engine: what is read and refused, who decides, and what no order of rules or files can
// change.
#include "policy/rules/rules.hpp"

#include "base/text/command_words.hpp"
#include "base/text/shell_parts.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "base/json/json_writer.hpp"
#include "policy/rules/globs.hpp"
#include "policy/rules/rule_lint.hpp"

namespace cloche {
namespace {

Result<RuleFile> read_rules(const std::string& permissions, const NormaliseCommand& normalise = {}) {
  auto json = read_json(permissions, "rules.json");
  if (!json.ok()) return json.take_error();
  return RuleFile::read(&json.value(), "rules.json", normalise);
}

RuleFile must_read(const std::string& permissions) {
  auto file = read_rules(permissions);
  EXPECT_TRUE(file.ok()) << permissions << ": " << (file.ok() ? "" : file.error().what.text());
  return file.ok() ? std::move(file).value() : RuleFile::read(nullptr, "").value();
}

RuleCall shell(std::string command) { return {"run_shell", {{"cmd", std::move(command)}}}; }

Decision decide_alone(const RuleFile& file, const RuleCall& call) {
  return rules_gate({.user = file}, call).decision;
}

constexpr const char* everyday = R"({
  "rules": [
    {"tool": "run_shell", "args": {"cmd": "rm\\s+-rf|sudo"}, "action": "deny", "reason": "too dangerous",
     "match": ["rm -rf build", "sudo ls", "ls sudo"], "not_match": ["rm build"]},
    {"tool": "run_shell", "args": {"cmd": "^(git|ls|cat|grep) "}, "action": "allow"}
  ],
  "default": "ask"
})";

TEST(Rules, TheFirstMatchDecides) {
  const RuleFile file = must_read(everyday);
  const std::pair<const char*, Decision> rows[] = {
      {"git status", Decision::allow},   {"git commit -m sudo", Decision::deny},
      {"rm -rf .", Decision::deny},      {"rm\t-rf .", Decision::deny},
      {"rm build", Decision::ask},       {"gitk", Decision::ask},
      {"env git status", Decision::ask}, {"", Decision::ask},
  };
  for (const auto& [command, decision] : rows)
    EXPECT_EQ(decide_alone(file, shell(command)), decision) << command;
  EXPECT_EQ(decide_alone(file, {"write_artifact", {{"path", "sudo"}}}), Decision::ask);
  EXPECT_EQ(file.example_count(), 4U);
}

// An agent's Bash is judged as our run_script; who wrote a rule for Bash meant it too.
TEST(Rules, ByAnAgentsOwnNameOnlyRulesCountThatAreAboutIt) {
  struct Row {
    const char* permissions;
    Decision decision;
  };
  const Row rows[] = {
      {R"({"rules": [], "default": "deny"})", Decision::allow},
      {R"({"rules": [{"tool": "Bash", "action": "deny"}]})", Decision::deny},
      {R"({"rules": [{"tool": "B*", "action": "ask"}]})", Decision::ask},
      {R"({"rules": [{"tool": "Bash", "args": {"command": "^ls"}, "action": "deny"}]})", Decision::deny},
      {R"({"rules": [{"tool": "Bash", "args": {"command": "^rm"}, "action": "deny"}]})", Decision::allow},
      {R"({"rules": [{"tool": "*", "action": "deny"}, {"tool": "Bash", "action": "ask"}]})", Decision::ask},
      {R"({"rules": [{"tool": "Bash", "action": "allow"}, {"tool": "Bash", "action": "deny"}]})",
       Decision::allow},
  };
  const RuleCall call{"Bash", {{"command", "ls"}}};
  for (const auto& row : rows)
    EXPECT_EQ(rules_by_other_name({.user = must_read(row.permissions)}, call, "run_script").decision,
              row.decision)
        << row.permissions;
  const RuleFiles both{
      .managed = must_read(R"({"rules": [{"tool": "Bash", "action": "ask", "approver": "operator"}]})"),
      .user = must_read(R"({"rules": [{"tool": "Bash", "action": "ask"}]})")};
  EXPECT_EQ(rules_by_other_name(both, call, "run_script").approvers, Approvers::operator_alone);
  EXPECT_EQ(rules_by_other_name(both, {"no name", {}}, "run_script").decision, Decision::deny);
}

TEST(Rules, TheVerdictSaysWhoDecidedAndWhatToDo) {
  const RuleFile file = must_read(everyday);
  const Verdict denied = rules_gate({.user = file}, shell("sudo ls"));
  EXPECT_EQ(denied.gate, GateId::rules);
  EXPECT_EQ(denied.reason.text(), "too dangerous");
  EXPECT_EQ(denied.rule, "permissions.rules[0] rules.json:3");
  EXPECT_NE(denied.fix.text().find("rules.json:3"), std::string::npos);
  const Verdict asked = rules_gate({.user = file}, shell("make"));
  EXPECT_EQ(asked.rule, "permissions.default rules.json:7");
  EXPECT_EQ(asked.reason.text(), "no rule of the operator's is about it, and the default is ask");
  const Verdict allowed = rules_gate({.user = file}, shell("git log"));
  EXPECT_EQ(allowed.reason.text(), "a rule of the operator's allows it");
  EXPECT_EQ(allowed.fix.text(), "");
}

// Nothing passes by adding a ; to it.
TEST(Rules, OpaqueTextIsAllowedByItsPartsAndRefusedByAnyOfIt) {
  using Weight = TextReading::Weight;
  const RuleFile asks = must_read(R"({"default": "ask", "rules": [
    {"tool": "run_shell", "args": {"cmd": "^git push"}, "action": "deny"},
    {"tool": "run_shell", "args": {"cmd": "curl.*[|] *sh"}, "action": "deny"},
    {"tool": "run_script", "args": {"code": "deploy"}, "action": "deny"},
    {"tool": "run_shell", "args": {"cmd": "^(git|ls) "}, "action": "allow"}]})");
  const RuleFile allows = must_read(R"({"default": "allow", "rules": [
    {"tool": "run_shell", "args": {"cmd": "^git push"}, "action": "deny"}]})");
  const RuleFile scripts = must_read(R"({"default": "deny", "rules": [
    {"tool": "run_script", "args": {"code": "^git "}, "action": "allow"},
    {"tool": "run_script", "args": {"interpreter": "python3"}, "action": "allow"},
    {"tool": "run_shell", "action": "deny"}]})");
  const struct {
    const RuleFile& file;
    const char* tool;
    const char* text;
    Decision decision;
  } rows[] = {
      {asks, "run_shell", "git status; ls -l", Decision::allow},
      {asks, "run_shell", "git status; make", Decision::ask},
      {asks, "run_shell", "git status $X", Decision::ask},  // what allows has found a part
      {asks, "run_shell", "git status; git push", Decision::deny},
      {asks, "run_shell", "ls -l && git push origin", Decision::deny},
      {asks, "run_shell", "ls -l; git push \"$X\"", Decision::deny},  // no parts: by the letters
      {asks, "run_shell", "A=1 git push", Decision::deny},
      {asks, "run_shell", "git fetch; curl x | sh", Decision::deny},  // over two parts
      {asks, "run_shell", "git fetch; deploy", Decision::deny},       // the rules for run_script speak
      {asks, "run_script", "git status; git push", Decision::deny},  // and those for run_shell about the text
      {asks, "run_script", "git status", Decision::ask},
      {allows, "run_shell", "git status $X; ls", Decision::allow},
      {allows, "run_shell", "x $X; git push", Decision::deny},
      {allows, "run_script", "git push", Decision::deny},
      {scripts, "run_script", "git status; git log", Decision::allow},
      {scripts, "run_script", "git status; rm x", Decision::deny},
      {scripts, "run_script", "git status; echo $X", Decision::deny},
      {scripts, "run_shell", "git status; git log", Decision::deny},
  };
  for (const auto& row : rows) {
    const std::string tool = row.tool;
    OpaqueText opaque{.text = row.text};
    if (const auto parts = shell_parts(row.text)) {
      opaque.parts.emplace();
      for (const auto& argv : parts->commands) opaque.parts->push_back(quote_words(argv));
    } else {
      opaque.pieces = shell_pieces(row.text).value();
    }
    std::vector<TextReading> readings = {{{tool}, tool == "run_shell" ? "cmd" : "code"}};
    readings.push_back(tool == "run_shell" ? TextReading{{"run_script"}, "code", Weight::by_name, tool}
                                           : TextReading{{"run_shell"}, "cmd", Weight::text_only, tool});
    EXPECT_EQ(rules_on_text({.user = row.file}, readings, opaque).decision, row.decision)
        << tool << ": " << row.text;
  }
  const TextReading python{{"run_script", {{"interpreter", "python3"}}}, "code"};
  EXPECT_EQ(rules_on_text({.user = scripts}, {python}, {.text = "anything"}).decision, Decision::allow)
      << "a rule that does not look at the text allows the tool";
  EXPECT_EQ(rules_on_text({}, {python}, {.text = "anything"}).decision, Decision::allow);
}

TEST(Rules, TheStrictestOfAllFilesThatAskSaysWhoMayAnswer) {
  const RuleFile anyone = must_read(R"({"rules": [{"tool": "*", "action": "ask", "approver": "any"}]})");
  const RuleFile unsaid = must_read(R"({"default": "ask"})");
  const RuleFile ours = must_read(R"({"rules": [{"tool": "*", "action": "ask", "approver": "operator"}]})");
  const RuleFile allows = must_read(R"({"default": "allow"})");
  const RuleFile denies = must_read(R"({"default": "deny"})");
  struct Row {
    RuleFiles files;
    Decision decision;
    Approvers approvers;
  };
  const Row rows[] = {
      {{.user = anyone}, Decision::ask, Approvers::anyone},
      {{.user = unsaid}, Decision::ask, Approvers::anyone},
      {{.user = ours}, Decision::ask, Approvers::operator_alone},
      {{.managed = ours, .user = anyone}, Decision::ask, Approvers::operator_alone},
      {{.managed = unsaid, .project = ours}, Decision::ask, Approvers::operator_alone},
      {{.managed = ours, .user = allows}, Decision::ask, Approvers::operator_alone},
      {{.managed = ours, .user = denies}, Decision::deny, Approvers::anyone},
  };
  for (const auto& row : rows) {
    const Verdict verdict = rules_gate(row.files, shell("make"));
    EXPECT_EQ(verdict.decision, row.decision);
    EXPECT_EQ(verdict.approvers, row.approvers) << verdict.rule;
  }
}

TEST(Rules, AliasesAreTheSameCall) {
  const RuleFile file = must_read(R"({"rules": [
    {"tool": "run_shell_command", "args": {"command": "^make"}, "action": "allow", "match": ["make all"]},
    {"tool": "run_shell_*", "args": {"command": "^ninja"}, "action": "allow"},
    {"tool": "exec", "args": {"command": "^x"}, "action": "allow"}]})");
  EXPECT_EQ(decide_alone(file, shell("make")), Decision::allow);
  EXPECT_EQ(decide_alone(file, {"run_shell_command", {{"command", "make"}}}), Decision::allow);
  EXPECT_EQ(decide_alone(file, {"run_shell", {{"command", "ninja"}}}), Decision::allow);
  EXPECT_EQ(decide_alone(file, {"exec", {{"command", "x"}}}), Decision::allow);
  EXPECT_EQ(decide_alone(file, {"exec", {{"cmd", "x"}}}), Decision::deny) << "another tool's cmd is its own";
  EXPECT_EQ(decide_alone(file, {"run_shell", {{"cmd", "make"}, {"command", "rm"}}}), Decision::deny);
}

TEST(Rules, UnsetEmptyAndAListAreThreeThings) {
  const RuleFile unset = RuleFile::read(nullptr, "rules.json").value();
  EXPECT_FALSE(unset.has_opinion());
  EXPECT_EQ(rules_gate({.user = unset}, shell("ls")).decision, Decision::allow);
  EXPECT_EQ(rules_gate({}, shell("ls")).reason.text(), "no permission rules are set");
  EXPECT_FALSE(must_read("{}").has_opinion());
  EXPECT_EQ(decide_alone(must_read(R"({"rules": []})"), shell("ls")), Decision::deny);
  EXPECT_EQ(decide_alone(must_read(R"({"rules": [], "default": "allow"})"), shell("ls")), Decision::allow);
  EXPECT_EQ(decide_alone(must_read(R"({"default": "ask"})"), shell("ls")), Decision::ask);
  const RuleFile list = must_read(R"({"rules": [{"tool": "*", "args": {"cmd": "^ls"}, "action": "allow"}]})");
  EXPECT_EQ(decide_alone(list, shell("ls")), Decision::allow);
  EXPECT_EQ(decide_alone(list, shell("cat")), Decision::deny);
}

TEST(Rules, EveryArgumentMustMatchAndBeThere) {
  const RuleFile file = must_read(R"({"rules": [
    {"tool": "write_*", "args": {"path": "^out/", "content": ""}, "action": "allow",
     "match": [{"tool": "write_artifact", "args": {"path": "out/a", "content": "x"}}],
     "not_match": [{"args": {"path": "out/a"}}, {"tool": "read_artifact", "args": {"path": "out/a", "content": ""}}]}]})");
  EXPECT_EQ(decide_alone(file, {"write_artifact", {{"path", "out/a"}, {"content", ""}}}), Decision::allow);
  EXPECT_EQ(decide_alone(file, {"write_artifact", {{"path", "out/a"}}}), Decision::deny);
  EXPECT_EQ(decide_alone(file, {"write_artifact", {{"path", "in/a"}, {"content", ""}}}), Decision::deny);
}

TEST(Rules, ANewlineHidesNothing) {
  const RuleFile file = must_read(R"({"rules": [
    {"tool": "*", "args": {"cmd": "rm.*-rf"}, "action": "deny"}], "default": "allow"})");
  EXPECT_EQ(decide_alone(file, shell("rm 'a\nb' -rf")), Decision::deny);
  EXPECT_EQ(decide_alone(file, shell("rm 'a\r\v\xe2\x80\xa8' -rf")), Decision::deny);
}

TEST(Rules, WhatCannotBeJudgedIsDenied) {
  const RuleFile file = must_read(R"({"rules": [
    {"tool": "run_*", "args": {"cmd": "^rm"}, "action": "deny"}], "default": "allow"})");
  EXPECT_EQ(decide_alone(file, shell("\xff")), Decision::deny);
  EXPECT_EQ(decide_alone(file, {"", {}}), Decision::deny);
  EXPECT_EQ(decide_alone(file, {"run_\xd1\x95hell", {}}), Decision::deny);
  EXPECT_EQ(decide_alone(file, {"run*", {}}), Decision::deny);
  EXPECT_EQ(decide_alone(file, shell(std::string(5 << 20, 'a'))), Decision::deny);
  EXPECT_EQ(decide_alone(file, {"run_shell", {}}), Decision::allow) << "the control";
}

// File names are bytes, and an operator who set no rule has not asked for them to be text.
TEST(Rules, BytesThatAreNoTextNeedAPatternToBeRefused) {
  const std::pair<const char*, Decision> rows[] = {
      {R"({})", Decision::allow},
      {R"({"default": "allow"})", Decision::allow},
      {R"({"default": "ask"})", Decision::ask},
      {R"({"rules": [{"tool": "run_shell", "action": "allow"}]})", Decision::allow},
      {R"({"rules": [{"tool": "write_*", "args": {"path": "x"}, "action": "deny"}], "default": "allow"})",
       Decision::allow},
      {R"({"rules": [{"tool": "run_*", "args": {"cmd": "x"}, "action": "allow"}], "default": "allow"})",
       Decision::deny},
      {R"({"rules": [{"tool": "run_shell_command", "args": {"command": "x"}, "action": "deny"}],
          "default": "allow"})",
       Decision::deny},
  };
  for (const auto& [permissions, decision] : rows)
    EXPECT_EQ(decide_alone(must_read(permissions), shell("cat \xff")), decision) << permissions;
  const RuleFile silent = must_read("{}");
  const RuleFile judges = must_read(rows[5].first);
  EXPECT_EQ(rules_gate({.managed = judges, .user = silent}, shell("\xff")).decision, Decision::deny);
}

struct Refused {
  const char* permissions;
  const char* why;
};

TEST(Rules, AFileThatIsNotUnderstoodIsRefused) {
  const Refused rows[] = {
      {"[]", "rules.json:1: permissions must be an object"},
      {R"({"rule": []})", "rules.json:1: unknown key \"rule\"; did you mean rules?"},
      {R"({"rules": {}})", "rules.json:1: permissions.rules must be a list"},
      {R"({"rules": null})", "rules.json:1: permissions.rules must be a list"},
      {R"({"rules": [{"tool": "*", "action": "ask", "approver": "me"}]})",
       "rules.json:1: approver must be any or operator"},
      {R"({"rules": [{"tool": "*", "action": "ask", "approver": true}]})",
       "rules.json:1: approver must be any or operator"},
      {R"({"rules": [{"tool": "*", "action": "allow", "approver": "operator"}]})",
       "rules.json:1: approver says who may answer, and only a rule with action ask has a question"},
      {R"({"default": "maybe"})", "rules.json:1: default must be allow, deny or ask"},
      {R"({"default": null})", "rules.json:1: default must be allow, deny or ask"},
      {R"({"rules": [1]})", "rules.json:1: permissions.rules[0] is not an object"},
      {"{\"rules\": [\n{\"action\": \"deny\"}]}", "rules.json:2: tool is missing; \"*\" means every tool"},
      {R"({"rules": [{"tool": "a"}]})", "rules.json:1: action is missing: allow, deny or ask"},
      {R"({"rules": [{"tool": "a", "action": "Deny"}]})", "rules.json:1: action must be allow, deny or ask"},
      {"{\"rules\": [{\"tool\": \"a\",\n\"action\": \"deny\",\n\"arg\": {}}]}",
       "rules.json:3: unknown key \"arg\"; did you mean args?"},
      {"{\"rules\": [{\"tool\": \"a\",\n\"action\": \"deny\",\n\"action\": \"allow\"}]}",
       "rules.json:3: the key \"action\" is here twice; first on line 2"},
      {R"({"rules": [{"tool": "", "action": "deny"}]})",
       "rules.json:1: tool must be a name of letters, digits and _-.:/@, or a glob of them with * and ?"},
      {R"({"rules": [{"tool": "a b", "action": "deny"}]})",
       "rules.json:1: tool must be a name of letters, digits and _-.:/@, or a glob of them with * and ?"},
      {R"({"rules": [{"tool": "a", "action": "deny", "args": {}}]})",
       "rules.json:1: args is empty; leave it out to match whatever the arguments"},
      {R"({"rules": [{"tool": "a", "action": "deny", "args": []}]})",
       "rules.json:1: args must be an object: argument name to pattern"},
      {R"({"rules": [{"tool": "a", "action": "deny", "args": {"x": 1}}]})",
       "rules.json:1: the pattern of \"x\" must be a string"},
      {"{\"rules\": [{\"tool\": \"a\", \"action\": \"deny\", \"args\": {\n\"x\": \"(\"}}]}",
       "rules.json:2: \"(\" is not a pattern: missing ): ("},
      {R"j({"rules": [{"tool": "a", "action": "deny", "args": {"x": "(?=a)"}}]})j",
       "rules.json:1: \"(?=a)\" is not a pattern: invalid perl operator: (?="},
      {R"({"rules": [{"tool": "a", "action": "deny", "args": {"x": "((a{1000}){1000}){1000}"}}]})",
       "rules.json:1: \"((a{1000}){1000}){1000}\" is not a pattern: invalid repetition size: {1000}"},
      {R"({"rules": [{"tool": "run_shell", "action": "deny", "args": {"cmd": "a", "command": "b"}}]})",
       "rules.json:1: cmd and command are one argument and both are given"},
      {R"({"rules": [{"tool": "a", "action": "deny", "reason": "\u001b[2J"}]})",
       "rules.json:1: reason has a control character in it"},
      {R"({"rules": [{"tool": "a", "action": "deny", "reason": 1}]})",
       "rules.json:1: reason must be a string of at most 500 bytes"},
      {"{\"rules\": [{\"tool\": \"a\", \"action\": \"deny\", \"args\": {\"x\": \"b\"}, \"match\": "
       "[\"b\",\n\"c\"]}]}",
       "rules.json:2: permissions.rules[0] does not match its own example"},
      {"{\"rules\": [{\"tool\": \"a\", \"action\": \"deny\", \"args\": {\"x\": \"b\"}, \"not_match\": "
       "[\n\"abc\"]}]}",
       "rules.json:2: permissions.rules[0] matches what it says it does not"},
      {R"({"rules": [{"tool": "a", "action": "deny", "match": ["b"]}]})",
       "rules.json:1: the rule has not exactly one argument: write the example as {\"args\": {...}}"},
      {R"({"rules": [{"tool": "a", "action": "deny", "match": "b"}]})",
       "rules.json:1: match and not_match must be lists"},
      {R"({"rules": [{"tool": "a", "action": "deny", "match": [1]}]})",
       "rules.json:1: an example is a string or {\"tool\": ..., \"args\": {...}}"},
      {R"({"rules": [{"tool": "a", "action": "deny", "match": [{"cmd": "x"}]}]})",
       "rules.json:1: unknown key \"cmd\""},
      {R"({"rules": [{"tool": "a", "action": "deny", "match": [{"tool": "b*"}]}]})",
       "rules.json:1: an example's tool must be a name"},
      {R"({"rules": [{"tool": "a", "action": "deny", "match": [{"tool": "b"}]}]})",
       "rules.json:1: permissions.rules[0] does not match its own example"},
  };
  for (const auto& [permissions, why] : rows) {
    const auto file = read_rules(permissions);
    EXPECT_EQ(file.ok() ? "accepted" : file.error().what.text(), why) << permissions;
  }
}

std::string rules_of(size_t count, const std::string& pattern, const std::string& more = "") {
  std::string list;
  for (size_t i = 0; i < count; ++i)
    list += (list.empty() ? "" : ",\n") + std::string(R"({"tool": "run_shell", "action": "deny", "args": )") +
            "{\"stdin\": " + json_quote(pattern) + "}" + more + "}";
  return "{\"default\": \"allow\", \"rules\": [\n" + list + "]}";
}

// A project's file is read for every call, and its author may want us to be busy.
TEST(Rules, AFileThatWouldKeepUsBusyIsRefused) {
  const std::string text = ", \"not_match\": [\"" + std::string(100'000, 'a') + "\"]";
  const struct {
    std::string permissions;
    const char* complaint;
  } rows[] = {
      {rules_of(1000, "(((a{1,9}){1,9}){1,9})"), "too large together"},
      {rules_of(1000, "[^a]{500}[^b]{400}"), "too large together"},
      {rules_of(1, "\\pL{1,200}\\pN{1,200}"), "too large"},
      {rules_of(1, "((((((a{1,9}){1,9}){1,9}){1,9}){1,9}){1,9})"), "is not a pattern"},
      {rules_of(1, "(a{1,1000}){1,1000}"), "is not a pattern"},
      {rules_of(1, std::string(4000, '(') + "a" + std::string(4000, ')')), "longer than 4096 bytes"},
      {rules_of(1, "[ab]*a[ab]{900}c", text), "the examples up to here are too long"},
      {rules_of(9, "[ab]*a[ab]{100}c", text), "the examples up to here are too long"},
  };
  for (const auto& row : rows) {
    const auto file = read_rules(row.permissions);
    ASSERT_FALSE(file.ok()) << row.complaint;
    EXPECT_NE(file.error().what.text().find(row.complaint), std::string::npos)
        << file.error().what.text().substr(0, 300);
    EXPECT_TRUE(file.error().what.text().starts_with("rules.json:"))
        << file.error().what.text().substr(0, 300);
  }
  EXPECT_TRUE(read_rules(rules_of(1000, ".*.*.*x")).ok());
}

TEST(Rules, ACallThatWouldKeepUsBusyIsDenied) {
  const RuleFile file = must_read(rules_of(10, "[ab]*a[ab]{900}c"));
  RuleCall call{"run_shell", {{"cmd", "cat"}, {"stdin", std::string(1 << 20, 'a')}}};
  const auto verdict = file.judge(call);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->decision, Decision::deny);
  EXPECT_NE(verdict->reason.text().find("too long to be judged"), std::string::npos) << verdict->reason;
  EXPECT_FALSE(verdict->fix.empty());
  call.arguments["stdin"] = "aab";
  EXPECT_EQ(file.judge(call)->decision, Decision::allow);
}

TEST(Rules, ExamplesAreNormalisedLikeCalls) {
  const auto normalise = [](std::string_view command) -> Result<std::string> {
    if (command.find('|') != std::string_view::npos) return refusal("an operator");
    return "normal " + std::string(command);
  };
  const char* rules = R"({"rules": [{"tool": "run_shell", "args": {"cmd": "^normal ls$"}, "action": "deny",
    "match": ["ls"]}]})";
  EXPECT_TRUE(read_rules(rules, normalise).ok());
  EXPECT_FALSE(read_rules(rules).ok()) << "the control: taken as it is, it does not match";
  const auto refused = read_rules(
      R"({"rules": [{"tool": "run_shell", "args": {"cmd": "a"}, "action": "deny", "match": ["a | b"]}]})",
      normalise);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().what.text(), "rules.json:1: the example \"a | b\" is no call: an operator");
}

// The example of the reference is true: it loads, and decides what the text around it says.
TEST(Rules, TheReferenceTellsTheTruth) {
  std::ifstream file(CLOCHE_SOURCE_DIR "/docs/configuration.md");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const size_t from = text.find("```json\n", text.find("## Permission rules")) + 8;
  const auto json = read_json(text.substr(from, text.find("```", from) - from), "reference");
  ASSERT_TRUE(json.ok()) << json.error().what;
  const auto rules = RuleFile::read(json.value().find("permissions"), "reference");
  ASSERT_TRUE(rules.ok()) << rules.error().what;
  EXPECT_EQ(rules.value().example_count(), 8U);
  EXPECT_TRUE(lint(rules.value()).empty());
  EXPECT_EQ(decide_alone(rules.value(), shell("git status")), Decision::allow);
  EXPECT_EQ(decide_alone(rules.value(), shell("git commit -m sudo")), Decision::deny);
  EXPECT_EQ(decide_alone(rules.value(), shell("make")), Decision::ask);
}

TEST(ToolGlob, Matches) {
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("a*c", "abbc"));
  EXPECT_TRUE(glob_matches("a*b*c", "aXbbYbc"));
  EXPECT_TRUE(glob_matches("a?c", "abc"));
  EXPECT_FALSE(glob_matches("a?c", "ac"));
  EXPECT_FALSE(glob_matches("a*c", "abcd"));
  EXPECT_FALSE(glob_matches("", "a"));
  EXPECT_FALSE(glob_matches("run_shell", "run_shellx"));
  EXPECT_TRUE(glob_covers("fs_*", "fs_read*"));
  EXPECT_FALSE(glob_covers("fs_read*", "fs_*"));
  EXPECT_FALSE(glob_covers("a?*", "a*"));
}

}  // namespace
}  // namespace cloche
