// The gates one by one. Those of paths and of the network have files of their own.
#include "policy/gates/decide.hpp"
#include "policy/gates/gates_fixture.hpp"

namespace cloche {
namespace {

using namespace gates_fixture;

TEST(LoadoutGate, UnsetNoneAndAListAreThreeThings) {
  Case c = case_of("ls");
  EXPECT_EQ(loadout_gate(c).decision, Decision::allow);
  EXPECT_EQ(loadout_gate(c).reason.text(), "run_shell is in the default loadout");
  c.ceilings.loadout = Words{};
  EXPECT_EQ(loadout_gate(c).decision, Decision::deny) << "an empty list is no tool at all";
  c.ceilings.loadout = Words{"write_artifact"};
  EXPECT_EQ(loadout_gate(c).decision, Decision::deny);
  c.ceilings.loadout = Words{"write_artifact", "run_shell"};
  EXPECT_EQ(loadout_gate(c).decision, Decision::allow);
  c.intent.tool = "";
  EXPECT_EQ(loadout_gate(c).decision, Decision::deny);
  EXPECT_EQ(loadout_gate(Case{}).decision, Decision::deny) << "what was not filled in grants nothing";
}

TEST(ShapeGate, SaysWhichShapeAndWhere) {
  const Verdict verdict = shape_gate(case_of("cat a"), shapes());
  EXPECT_EQ(verdict.decision, Decision::allow);
  EXPECT_EQ(verdict.reason.text(), "passive: cat FILE...");
  EXPECT_TRUE(verdict.rule.starts_with("cat share/commands/passive.json:")) << verdict.rule;
}

TEST(ShapeGate, ARefusalSaysWhatToWrite) {
  const struct {
    const char* cmd;
    CommandProfile ceiling;
    const char* reason;
    const char* fix;
  } rows[] = {
      {"cat -n a", CommandProfile::passive, "passive accepts cat only as listed", "write it as cat FILE..."},
      {"/bin/cat a", CommandProfile::passive, "plain name", "write cat"},
      {"rm a", CommandProfile::passive, "passive has no command rm", "add a shape"},
      {"pytest", CommandProfile::passive, "passive has no command pytest", "add a shape"},
      {"bash -c ls", CommandProfile::full, "full accepts bash only as listed", "bash FILE.sh"},
      {"sudo ls", CommandProfile::full, "full has no command sudo", "add a shape"},
  };
  for (const auto& row : rows) {
    const Verdict verdict = shape_gate(case_of(row.cmd, row.ceiling), shapes());
    EXPECT_EQ(verdict.decision, Decision::deny) << row.cmd;
    EXPECT_NE(verdict.reason.text().find(row.reason), std::string::npos) << verdict.reason.text();
    EXPECT_NE((verdict.instead.text() + "; " + verdict.fix.text()).find(row.fix), std::string::npos)
        << verdict.instead.text();
  }
  Case narrow = case_of("pytest", CommandProfile::full);
  narrow.intent.profile = CommandProfile::passive;
  EXPECT_EQ(shape_gate(narrow, shapes()).instead.text(), "ask for the profile full");
}

TEST(ShapeGate, AnyTakesEverythingThatIsACommand) {
  EXPECT_EQ(shape_gate(case_of("rm -rf /", CommandProfile::any), shapes()).decision, Decision::allow);
  Case c = case_of("ls", CommandProfile::any);
  for (const Words& argv : {Words{}, Words{""}, Words{"ls", std::string("a\0", 2)}, Words{"ls", "a\nb"}}) {
    c.intent.argv = argv;
    EXPECT_EQ(shape_gate(c, shapes()).decision, Decision::deny);
  }
}

TEST(CommandsFor, ACallOnlyNarrows) {
  for (auto ceiling : {CommandProfile::passive, CommandProfile::full, CommandProfile::any}) {
    for (auto unasked : {CommandProfile::passive, CommandProfile::full, CommandProfile::any}) {
      Ceilings ceilings{.commands = ceiling, .unasked = unasked, .level = Autonomy::full};
      Intent intent;
      EXPECT_LE(commands_for(ceilings, intent), ceiling);
      for (auto asked : {CommandProfile::passive, CommandProfile::full, CommandProfile::any}) {
        intent.profile = asked;
        EXPECT_LE(commands_for(ceilings, intent), std::min(ceiling, asked));
      }
    }
  }
}

TEST(CommandsFor, WhoMayOnlyReadRunsNoCode) {
  Ceilings ceilings{.commands = CommandProfile::any, .unasked = CommandProfile::any};
  EXPECT_EQ(ceilings.level, Autonomy::readonly) << "the default is the strict one";
  EXPECT_EQ(commands_for(ceilings, {}), CommandProfile::passive);
  ceilings.level = Autonomy::supervised;
  EXPECT_EQ(commands_for(ceilings, {}), CommandProfile::any);
}

TEST(NoShellGate, EachOperatorRefusesAndSaysWhatToDo) {
  const std::pair<const char*, const char*> rows[] = {
      {"ls | cat", "run_script"},
      {"ls > x", "write_artifact"},
      {"cat < x", "write_artifact"},
      {"ls && ls", "run_script"},
      {"ls || ls", "run_script"},
      {"ls ; ls", "run_script"},
      {"ls &", "run_script"},
      {"ls $HOME", "run_script"},
      {"ls `x`", "run_script"},
      {"cat << E", "write_artifact"},
      {"ls *.py", "list_artifacts"},
      {"ls a?", "list_artifacts"},
      {"ls [a]", "list_artifacts"},
      {"ls ~", "workspace"},
      {"A=1 ls", "run_script"},
      {"(ls)", "run_script"},
      {"ls \"$X\"", "single quotes"},
      {"ls \"`x`\"", "single quotes"},
      {"ls {a,b}", "each of the words"},
      {"ls # x", "leave the comment out"},
  };
  for (const auto& [cmd, fix] : rows) {
    for (auto profile : {CommandProfile::passive, CommandProfile::full, CommandProfile::any}) {
      Case c = case_of(cmd, profile);
      c.ceilings.execute = true;
      const Verdict verdict = no_shell_gate(c);
      EXPECT_EQ(verdict.decision, Decision::deny) << cmd;
      EXPECT_NE(verdict.instead.text().find(fix), std::string::npos) << verdict.instead.text();
    }
  }
  for (const char* cmd :
       {"ls '|'", "ls \"a > b\"", "ls \\*", "ls 'A=1'", "ls a=1 HEAD~1", "ls '$HOME'", "ls \"\\$X\""})
    EXPECT_EQ(no_shell_gate(case_of(cmd)).decision, Decision::allow) << cmd;
}

TEST(NoShellGate, TheWholeCallThatWouldWorkIsGivenWhereItWould) {
  const auto refused = [](const std::string& cmd, const auto& change) {
    Case c = case_of(cmd, CommandProfile::full);
    c.intent.shell_text = cmd;
    c.ceilings.execute = true;
    change(c);
    const Verdict verdict = no_shell_gate(c);
    EXPECT_EQ(verdict.decision, Decision::deny) << cmd;
    EXPECT_EQ(shape_gate(c, shapes()).decision, Decision::allow) << "no-shell answers: " << cmd;
    return verdict.reason.text() + "; " + verdict.instead.text();
  };
  const auto plain = [](Case&) {};
  EXPECT_EQ(
      refused("ls | wc -l", plain),
      "unquoted | is a pipe to a shell, and there is no shell here; make one call for each command; quote "
      "it if it is data, or call run_script {\"interpreter\":\"bash\",\"code\":\"ls | wc -l\"}");
  EXPECT_EQ(
      refused("echo \"$X\"", plain),
      "$ within double quotes is an expansion to a shell, and there is no shell here; use single quotes if "
      "it is data, or call run_script {\"interpreter\":\"bash\",\"code\":\"echo \\\"$X\\\"\"}");
  EXPECT_EQ(
      refused("cd py", plain),
      "cd is a word that only a shell knows, and there is no shell here; give the command itself with the "
      "argument cwd, or call run_script {\"interpreter\":\"bash\",\"code\":\"cd py\"}");
  EXPECT_NE(refused("export A=1", plain).find("call the program itself, or call run_script {"),
            std::string::npos);
  EXPECT_NE(refused("ls | x", [](Case& c) { c.intent.cwd = "a b", c.intent.timeout_ms = 5000; })
                .find(R"("code":"cd -- 'a b' || exit\nls | x","timeout_s":5})"),
            std::string::npos);
  const std::string call = "call run_script";
  const std::string tool = "run_script";
  for (const auto& text : {refused("ls | x", [](Case& c) { c.ceilings.loadout = {{"run_shell"}}; }),
                           refused("ls | x", [](Case& c) { c.ceilings.execute = false; }),
                           refused("ls | x", [](Case& c) { c.ceilings.level = Autonomy::readonly; })})
    EXPECT_EQ(text.find(tool), std::string::npos) << "it would be refused: " << text;
  const std::string fed = refused("ls | x", [](Case& c) { c.intent.input = "x"; });
  EXPECT_EQ(fed.find(call), std::string::npos) << "it would not do the same: " << fed;
  EXPECT_NE(fed.find(tool), std::string::npos) << fed;
}

TEST(LoadoutGate, ALineThatRunsAsAScriptNeedsRunScript) {
  Case c = case_of("ls | wc", CommandProfile::any);
  c.intent.shell_text = "ls | wc";
  c.intent.opaque = true;
  EXPECT_EQ(loadout_gate(c).decision, Decision::allow);
  c.ceilings.loadout = {{"run_shell", "run_script"}};
  EXPECT_EQ(loadout_gate(c).decision, Decision::allow);
  c.ceilings.loadout = {{"run_shell"}};
  EXPECT_EQ(loadout_gate(c).decision, Decision::deny);
  c.ceilings.loadout = {{"run_script"}};
  EXPECT_EQ(loadout_gate(c).decision, Decision::deny);
}

// The sentences of the other gates say how else it could be done, which the operator forbids.
TEST(Decide, ARefusalOfTheRulesIsTheOneThatIsRead) {
  const Verdict forbidden{GateId::rules, Decision::deny, "not that", "permissions.rules[0] config.json:1"};
  const auto decider = [&](const std::string& cmd, const auto& change) {
    Case c = case_of(cmd);
    c.schema = {GateId::schema, Decision::allow};
    c.rules = forbidden;
    change(c);
    const Judgement judgement = decide(c, shapes());
    EXPECT_EQ(judgement.decision, Decision::deny) << cmd;
    EXPECT_EQ(judgement.gates.size(), 9U) << "every gate is listed";
    return judgement.by;
  };
  const auto plain = [](Case&) {};
  for (const char* cmd : {"ls | wc", "make", "cat link", "ls"})
    EXPECT_EQ(decider(cmd, plain), GateId::rules) << cmd;
  EXPECT_EQ(decider("make", [](Case& c) { c.rules.decision = Decision::ask; }), GateId::shape);
  EXPECT_EQ(decider("make", [](Case& c) { c.ceilings.loadout = {{"run_script"}}; }), GateId::loadout);
  EXPECT_EQ(decider("make",
                    [](Case& c) {
                      c.schema = {GateId::schema, Decision::deny, "unreadable"};
                    }),
            GateId::schema);
}

TEST(PathGate, WhereACallStartsIsInTheWorkspace) {
  const struct {
    OperandFact fact;
    Decision decision;
  } rows[] = {
      {{.written = "py", .resolved = "/ws/py", .kind = FileFact::Kind::directory}, Decision::allow},
      {{.written = ".", .resolved = "/ws", .kind = FileFact::Kind::directory}, Decision::allow},
      {{.written = "py", .resolved = "/ws/py", .kind = FileFact::Kind::file}, Decision::deny},
      {{.written = "py", .resolved = "/ws/py", .kind = FileFact::Kind::absent}, Decision::deny},
      {{.written = "..", .resolved = "/", .kind = FileFact::Kind::directory}, Decision::deny},
      {{.written = "x", .resolved = "/ws2", .kind = FileFact::Kind::directory}, Decision::deny},
      {{.written = "x", .resolved = "/ws/x", .kind = FileFact::Kind::directory, .problem = "no"},
       Decision::deny},
  };
  for (const auto& row : rows) {
    for (auto profile : {CommandProfile::passive, CommandProfile::full, CommandProfile::any}) {
      Case c = case_of("ls", profile);
      c.intent.cwd = row.fact.written;
      EXPECT_EQ(path_gate(c, shapes()).decision, Decision::deny) << "it was not looked for";
      c.facts.cwd = row.fact;
      EXPECT_EQ(path_gate(c, shapes()).decision, row.decision) << row.fact.written;
    }
  }
}

TEST(EnvGate, NamesWhatIsLeftOut) {
  Case c = case_of("ls");
  EXPECT_EQ(env_gate(c).reason.text(), "nothing of the caller's environment is passed");
  c.ceilings.pass_env = {"CI", "LANG"};
  EXPECT_EQ(env_gate(c).reason.text(), "passed: CI, LANG");
  c.ceilings.pass_env = {"CI", "MY_TOKEN", "LD_PRELOAD"};
  EXPECT_EQ(env_gate(c).decision, Decision::allow);
  EXPECT_EQ(env_gate(c).reason.text(),
            "left out: MY_TOKEN (it looks like a secret), LD_PRELOAD (it changes what programs do)");
}

TEST(EnvGate, AnOperatorsSecretsStayOutsideTooWhileTheRestIsHisChoice) {
  Case c = case_of("ls");
  c.call.by = Asks::operators;
  c.ceilings.pass_env = {"EDITOR", "LD_LIBRARY_PATH"};
  EXPECT_EQ(env_gate(c).reason.text(), "passed: EDITOR, LD_LIBRARY_PATH");
  c.ceilings.pass_env = {"EDITOR", "GITHUB_TOKEN"};
  EXPECT_EQ(env_gate(c).decision, Decision::allow);
  EXPECT_EQ(env_gate(c).reason.text(), "left out: GITHUB_TOKEN (it looks like a secret)");
  EXPECT_EQ(env_gate(c).fix.text(), "give it knowingly: cloche run --secret NAME");
  c.secrets = {"A_KEY", "B"};
  EXPECT_EQ(env_gate(c).reason.text(),
            "left out: GITHUB_TOKEN (it looks like a secret); given as secrets: A_KEY, B");
  c.ceilings.pass_env = {"EDITOR"};
  EXPECT_EQ(env_gate(c).reason.text(), "passed: EDITOR; given as secrets: A_KEY, B");
  c.ceilings.pass_env.clear();
  EXPECT_EQ(env_gate(c).reason.text(), "given as secrets: A_KEY, B");
}

// No gate passes what could not be read.
TEST(Gates, AParseErrorRefusesEverywhere) {
  for (const char* cmd : {"cat 'a", "cat a\\", "", "cat \x01"}) {
    for (auto profile : {CommandProfile::passive, CommandProfile::full, CommandProfile::any}) {
      const Case c = case_of(cmd, profile);
      for (const Verdict& verdict :
           {shape_gate(c, shapes()), no_shell_gate(c), path_gate(c, shapes()), network_gate(c, shapes())})
        EXPECT_EQ(verdict.decision, Decision::deny) << name_of(verdict.gate) << ": " << cmd;
    }
  }
}

TEST(Gates, AnOperatorsCommandIsNoToolCall) {
  Case c;
  c.call.by = Asks::operators;
  c.intent.form = Intent::Form::words;
  c.intent.argv = {"/bin/sh", "-c", "ls | cat"};
  for (const Verdict& verdict :
       {loadout_gate(c), shape_gate(c, shapes()), no_shell_gate(c), path_gate(c, shapes())})
    EXPECT_EQ(verdict.decision, Decision::allow) << name_of(verdict.gate);
}

}  // namespace
}  // namespace cloche
