#include "tools/answer/model_text.hpp"

#include <re2/re2.h>

#include <type_traits>

#include "base/json/json_text.hpp"
#include "policy/gates/decide.hpp"
#include "policy/gates/gates_fixture.hpp"
#include "policy/rules/rules.hpp"

namespace cloche {
namespace {

// Three ways to say no, and none of them turns into another by itself.
template <typename From, typename To>
constexpr bool turns_into = std::is_convertible_v<From, To> || std::is_constructible_v<To, From>;
static_assert(!turns_into<Error, Verdict> && !turns_into<Verdict, Error>);
static_assert(!turns_into<Error, Outcome> && !turns_into<Outcome, Error>);
static_assert(!turns_into<Verdict, Outcome> && !turns_into<Outcome, Verdict>);

using gates_fixture::case_of;
using gates_fixture::shapes;

// What would tell a model how a refusal is made: a flag, a command of Cloche's, a place of a rule.
testing::AssertionResult names_no_way_around(const std::string& text) {
  for (
      const char* pattern :
      {R"(--(ro|rw|net|net-any|profile|autonomy|commands|isolation|backend|timeout|memory|skill|workspace)\b)",
       R"(\bcloche (approve|run|call|hook|log|config|explain|doctor|test|mcp)\b)", R"([.]json\b)",
       R"(:[0-9]+\b.*rule)", R"(/etc/cloche|[.]config/|[.]local/|/state/)", R"(\bmatching\b)",
       R"(another way that|does not name)"}) {
    if (RE2::PartialMatch(text, pattern))
      return testing::AssertionFailure() << "the model reads " << pattern << " in: " << text;
  }
  return testing::AssertionSuccess();
}

RuleFile rules(const std::string& permissions) {
  const auto value = read_json(permissions, "/home/u/.config/cloche/config.json");
  EXPECT_TRUE(value.ok());
  auto file = RuleFile::read(&value.value(), "/home/u/.config/cloche/config.json");
  EXPECT_TRUE(file.ok()) << describe(file.error());
  return std::move(file).value();
}

TEST(ModelText, NoGateTellsAModelHowItsRefusalIsMade) {
  std::vector<Case> cases;
  for (const auto profile : {CommandProfile::passive, CommandProfile::full, CommandProfile::any}) {
    for (const char* cmd :
         {"rm -rf build", "ls | wc",      "cat > x",    "cat << E",        "a && b",
          "a & b",        "(a)",          "echo $X",    "echo *",          "ls ~",
          "A=1 b",        "cat link",     "cat ../x",   "cat /etc/passwd", "cat loop",
          "cat pipe",     "cat folder",   "cat /usr/x", "ls 'a",           "/usr/bin/python3 -V",
          "python3 -c x", "python3 x.py", "cd py",      "export A=1",      "",
          "pytest -q"})
      cases.push_back(case_of(cmd, profile));
  }
  const auto with = [&](const auto& change) {
    Case c = case_of("python3 x.py", CommandProfile::any);
    change(c);
    cases.push_back(std::move(c));
  };
  with([](Case& c) { c.ceilings.loadout = std::vector<std::string>{"write_artifact"}; });
  with([](Case& c) { c.ceilings.loadout = std::vector<std::string>{}; });
  with([](Case& c) { c.intent.tool.clear(); });
  with([](Case& c) { c.intent.tool = "run_script", c.intent.problem = "no code"; });
  with([](Case& c) { c.ceilings.level = Autonomy::readonly; });
  with([](Case& c) { c.intent.opaque = true; });
  with([](Case& c) { c.intent.opaque = true, c.ceilings.level = Autonomy::readonly; });
  for (const bool network : {false, true}) {
    for (const auto level : {Autonomy::readonly, Autonomy::supervised}) {
      for (const char* host : {"example.org", "example.org:8443", "bad host"})
        with([&](Case& c) {
          c.intent.hosts = {host};
          c.ceilings.level = level;
          c.ceilings.network = network;
          c.ceilings.hosts = {"pypi.org", "*"};
        });
    }
  }
  with([](Case& c) {
    c.intent.hosts = {"example.org"};
    c.ceilings.network = true;
    c.ceilings.network_problem = "skill x says needs_network: true and names no host";
  });
  with([](Case& c) { c.asks = {"the skill x declares code:exec"}; });
  with([](Case& c) { c.asks = {"the skill x declares code:exec"}, c.answer = Decision::deny; });
  size_t said = 0;
  for (auto& c : cases) {
    c.schema = {GateId::schema, Decision::allow};
    c.rules = {GateId::rules, Decision::allow};
    for (const auto& verdict : decide(c, shapes()).gates) {
      if (verdict.decision == Decision::allow) continue;
      ++said;
      EXPECT_TRUE(names_no_way_around(refusal_text(verdict))) << quote_words(c.intent.argv);
      EXPECT_TRUE(names_no_way_around(refused_by(verdict).reason.text()));
    }
  }
  EXPECT_GT(said, 80U);
}

TEST(ModelText, ARuleSaysNoAndNotWhereOrAgainstWhat) {
  const RuleFiles files{.user = rules(R"({"default": "deny", "rules": [
    {"tool": "run_shell", "args": {"cmd": "^rm"}, "action": "deny", "reason": "nothing is deleted here"},
    {"tool": "run_shell", "args": {"cmd": "^curl"}, "action": "deny"},
    {"tool": "run_shell", "args": {"cmd": "^git push"}, "action": "ask", "approver": "operator"},
    {"tool": "run_shell", "args": {"cmd": "^make"}, "action": "ask"},
    {"tool": "run_shell", "args": {"cmd": "^ls"}, "action": "allow"}]})")};
  const struct {
    const char* cmd;
    Decision decision;
    const char* told;
    const char* fix;
  } rows[] = {
      {"rm -rf x", Decision::deny, "nothing is deleted here; the operator forbids it", "cmd matching ^rm"},
      {"curl x", Decision::deny, "it is against a rule of the operator's; ",
       "config.json:3, which says deny"},
      {"git push", Decision::ask, "the user has to approve it", "cloche approve"},
      {"make", Decision::ask, "the user has to approve it", "answer when asked"},
      {"other", Decision::deny, "do not try to do it in another way", "change the default at"},
      {"ls \xff", Decision::deny, "send it as UTF-8", ""},
  };
  for (const auto& row : rows) {
    const Verdict verdict = rules_gate(files, {"run_shell", {{"cmd", row.cmd}}});
    EXPECT_EQ(verdict.decision, row.decision) << row.cmd;
    const std::string text = refusal_text(verdict);
    EXPECT_NE(text.find(row.told), std::string::npos) << text;
    EXPECT_TRUE(names_no_way_around(text));
    EXPECT_NE(verdict.fix.text().find(row.fix), std::string::npos) << verdict.fix.text();
    // The operator reads all of it.
    const std::string whole = operators_reason(refused_by(verdict));
    EXPECT_NE(whole.find(verdict.fix.text()), std::string::npos) << whole;
    EXPECT_NE(whole.find(verdict.rule), std::string::npos) << whole;
  }
}

TEST(ModelText, AFailureNamesNoPlaceAndNoSetting) {
  const std::pair<const char*, const char*> rows[] = {
      {"/home/u/.config/cloche/config.json:3: unknown key 'x'", "[a path]: unknown key 'x'"},
      {"make /root/.local/state/cloche/runs: Permission denied", "make [a path]: Permission denied"},
      {"--ro /x contradicts --profile readonly", "[a setting] [a path] contradicts [a setting] readonly"},
      {"could not mount (/srv/data): busy", "could not mount ([a path]): busy"},
      {".cloche/config.json:1: bad", "[a path]: bad"},
      {"missing layer landlock: the kernel has none", "missing layer landlock: the kernel has none"},
      {"a / b - c -- d", "a / b - c -- d"},
      {"", ""},
  };
  for (const auto& [sentence, shown] : rows) EXPECT_EQ(without_places(sentence), shown);
  const Error error{Cause::missing_layer, "open /x/y: busy", 0, "use --isolation subprocess"};
  EXPECT_TRUE(names_no_way_around(failure_text(error)));
  Outcome outcome;
  outcome.end = End::failed;
  outcome.reason = error.what;
  outcome.advice = "; " + error.fix;
  outcome.denials = {{Enforcer::limit, "too much", "; raise it with --memory"}};
  const Outcome shown = for_model(outcome);
  EXPECT_EQ(shown.reason.text(), "open [a path]: busy");
  EXPECT_TRUE(shown.advice.empty() && shown.denials[0].advice.empty());
  EXPECT_EQ(operators_reason(outcome), "open /x/y: busy; use --isolation subprocess");
}

}  // namespace
}  // namespace cloche
