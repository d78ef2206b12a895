// The gates one by one: a row is a case and its answer.
#include "policy/gates.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/path.hpp"
#include "policy/shapes_fixture.hpp"

namespace cloche {
namespace {

using Words = std::vector<std::string>;

const Shapes& shapes() { return shipped_shapes(); }

// What this host has in its root.
constexpr const char* top_directories[] = {"/etc", "/run", "/usr", "/var", "/ws"};

// The facts of the case's own words.
void look_around(Case& c) {
  c.facts.operands.clear();
  for (const auto& path : paths_to_observe(c.intent, c.ceilings, shapes())) {
    OperandFact fact{.written = path, .resolved = tidied("/ws", path), .kind = FileFact::Kind::file};
    fact.rooted = std::any_of(std::begin(top_directories), std::end(top_directories),
                              [&](const char* top) { return is_beneath(top, fact.resolved); });
    if (path == "link") fact.resolved = "/etc/passwd";
    if (path == "loop") fact.problem = "it goes through too many links";
    if (path == "pipe") fact.kind = FileFact::Kind::other;
    if (path.starts_with("folder")) fact.kind = FileFact::Kind::directory;
    c.facts.operands.push_back(fact);
  }
}

// The same case with other words.
void ask_about(Case& c, Words argv) {
  c.intent.argv = std::move(argv);
  look_around(c);
}

// A command as `cmd`, with paths that lead where they say: /ws is the workspace, "link" leaves it.
Case case_of(const std::string& cmd, CommandProfile profile = CommandProfile::passive) {
  Case c;
  c.call.tool = "run_shell";
  c.intent.tool = "run_shell";
  c.intent.form = Intent::Form::text;
  SplitWords split = split_words(cmd);
  c.intent.problem = split.problem;
  c.intent.argv = split.words;
  c.intent.operators = split.operators;
  c.ceilings.commands = c.ceilings.unasked = profile;
  c.ceilings.loadout = std::nullopt;
  c.ceilings.level = Autonomy::supervised;
  c.facts.workspace = "/ws";
  look_around(c);
  return c;
}

TEST(LoadoutGate, UnsetNoneAndAListAreThreeThings) {
  Case c = case_of("ls");
  EXPECT_EQ(loadout_gate(c).decision, Decision::allow);
  EXPECT_EQ(loadout_gate(c).reason, "run_shell is in the default loadout");
  c.ceilings.loadout = Words{};
  EXPECT_EQ(loadout_gate(c).decision, Decision::deny) << "an empty list is no tool at all";
  c.ceilings.loadout = Words{"write_artifact"};
  EXPECT_EQ(loadout_gate(c).decision, Decision::deny);
  c.ceilings.loadout = Words{"write_artifact", "run_shell"};
  EXPECT_EQ(loadout_gate(c).decision, Decision::allow);
  c.intent.tool = "";
  EXPECT_EQ(loadout_gate(c).decision, Decision::deny);
  EXPECT_EQ(loadout_gate(Case{}).decision, Decision::deny) << "what nobody filled in grants nothing";
}

TEST(ShapeGate, SaysWhichShapeAndWhere) {
  const Verdict verdict = shape_gate(case_of("cat a"), shapes());
  EXPECT_EQ(verdict.decision, Decision::allow);
  EXPECT_EQ(verdict.reason, "passive: cat FILE...");
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
    EXPECT_NE(verdict.reason.find(row.reason), std::string::npos) << verdict.reason;
    EXPECT_NE(verdict.fix.find(row.fix), std::string::npos) << verdict.fix;
  }
  Case narrow = case_of("pytest", CommandProfile::full);
  narrow.intent.profile = CommandProfile::passive;
  EXPECT_EQ(shape_gate(narrow, shapes()).fix, "ask for the profile full");
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
      {"ls | cat", "run_script"},     {"ls > x", "write_artifact"},  {"cat < x", "write_artifact"},
      {"ls && ls", "run_script"},     {"ls || ls", "run_script"},    {"ls ; ls", "run_script"},
      {"ls &", "run_script"},         {"ls $HOME", "run_script"},    {"ls `x`", "run_script"},
      {"cat << E", "write_artifact"}, {"ls *.py", "list_artifacts"}, {"ls a?", "list_artifacts"},
      {"ls [a]", "list_artifacts"},   {"ls ~", "workspace"},         {"A=1 ls", "run_script"},
      {"(ls)", "run_script"},
  };
  for (const auto& [cmd, fix] : rows) {
    for (auto profile : {CommandProfile::passive, CommandProfile::full, CommandProfile::any}) {
      const Verdict verdict = no_shell_gate(case_of(cmd, profile));
      EXPECT_EQ(verdict.decision, Decision::deny) << cmd;
      EXPECT_NE(verdict.fix.find(fix), std::string::npos) << verdict.fix;
    }
  }
  for (const char* cmd : {"ls '|'", "ls \"a > b\"", "ls \\*", "ls 'A=1'", "ls a=1 HEAD~1", "ls '$HOME'"})
    EXPECT_EQ(no_shell_gate(case_of(cmd)).decision, Decision::allow) << cmd;
}

TEST(PathGate, WhatWasWrittenAndWhatItResolvedTo) {
  const Verdict verdict = path_gate(case_of("cat link"), shapes());
  EXPECT_EQ(verdict.decision, Decision::deny);
  EXPECT_EQ(verdict.reason, "link resolves to /etc/passwd, outside the workspace");
  EXPECT_EQ(verdict.fix, "copy the file into the workspace, or grant it: --ro /etc/passwd");
}

TEST(PathGate, OffersNoGrantThatWouldNotHelp) {
  const std::pair<const char*, const char*> rows[] = {
      {"cat /etc/passwd", "copy the file into the workspace, or grant it: --ro /etc/passwd"},
      {"cat /run/x", "use a path in the workspace"},
      {"cat /tmp/x", "use a path in the workspace"},
      {"cat /dev/null", "use a path in the workspace"},
      {"cat /sys/kernel", "use a path in the workspace"},
      {"cat /tmpfile", "copy the file into the workspace, or grant it: --ro /tmpfile"},
  };
  for (const auto& [cmd, fix] : rows) {
    const Verdict verdict = path_gate(case_of(cmd), shapes());
    EXPECT_EQ(verdict.decision, Decision::deny) << cmd;
    EXPECT_EQ(verdict.fix, fix) << cmd;
  }
}

TEST(PathGate, ByComponentsNotByLetters) {
  const std::pair<const char*, Decision> rows[] = {
      {"cat a", Decision::allow},         {"cat /ws/a", Decision::allow},      {"cat /ws", Decision::allow},
      {"cat ../ws-evil", Decision::deny}, {"cat /ws-evil/a", Decision::deny},  {"cat /wsa", Decision::deny},
      {"cat /", Decision::deny},          {"cat /etc/passwd", Decision::deny}, {"cat a ../x", Decision::deny},
      {"cat loop", Decision::deny},       {"cat pipe", Decision::deny},        {"ls /", Decision::deny},
  };
  for (const auto& [cmd, decision] : rows)
    EXPECT_EQ(path_gate(case_of(cmd), shapes()).decision, decision) << cmd;
}

TEST(PathGate, ArgumentsOfFullAreJudgedWhereverTheyStand) {
  const std::pair<const char*, Decision> rows[] = {
      {"python3 a.py -o ../x", Decision::deny},
      {"python3 a.py -o../x", Decision::deny},
      {"python3 a.py --out=../x", Decision::deny},
      {"python3 a.py --opt=/etc", Decision::deny},
      {"python3 a.py a:/etc", Decision::deny},
      {"python3 a.py file:///etc/passwd", Decision::deny},
      {"python3 a.py if=/etc", Decision::deny},
      {"pytest -c /etc/x", Decision::deny},
      {"npm run x --prefix ../x", Decision::deny},
      {"go build -o /etc/x", Decision::deny},
      {"python3 ../x", Decision::deny},
      {"bash a.sh link", Decision::deny},
      {"python3 a.py --out=x https://a/b", Decision::allow},
      {"python3 -c 'open(\"/etc/x\")'", Decision::allow},
      {"pytest -k 'a/b' tests", Decision::allow},
      {"go test ./...", Decision::allow},
      {"npx ../x", Decision::deny},
      {"python3 a.py pipe", Decision::allow},
  };
  for (const auto& [cmd, decision] : rows)
    EXPECT_EQ(path_gate(case_of(cmd, CommandProfile::full), shapes()).decision, decision) << cmd;
}

// However a program cuts its arguments: the path that it would find leaves the workspace.
TEST(PathGate, ArgumentsThatHideAPathAreRefused) {
  for (const std::string word : {
           "-qc/etc/x",
           "-qc../x",
           "-xvf/etc/passwd",
           "-/etc/x",
           "--/etc/x",
           "-I/etc/x",
           "-I../include",
           "-o~/x",
           "-qc~/x",
           "-C..",
           "-5/etc/x",
           "-a.../../../x",
           "-Wl,-o../x",
           "-ofile:///etc/x",
           "FILE:///etc/x",
           "File://h/etc/x",
           "file:/etc/x",
           "file://../x",
           "git+file:///etc/x",
           "sqlite:////etc/x",
           "unix:///run/x",
           "http:///etc/x",
           "x://etc/x",
           "-xfile:///etc/x",
           "http://x,/etc/passwd",
           "http://x;/etc/passwd",
           "http://x:/etc/passwd",
           "http://x ../y",
           "--url=https://x,../y",
           "a=/etc/x,http://x",
           "-ldflags=-o ../x",
           "-ldflags=-o /etc/x",
           "--opt=-I /etc",
           "cat /etc/passwd",
           "a ~/x",
           "--opt=~/x",
           "~/x",
           "~root/x",
           "~",
           "--opt=~",
           "+/etc/x",
           "++/etc/x",
           "@/etc/x",
           "--opt=@/etc/x",
           "--opt=+/etc/x",
           "pkg@/etc/x",
           "pkg@../x",
           "a:/etc/x",
           "--opt=a=/etc/x",
           "--opt=a:../x",
           "KEY=/etc/x",
           ";/etc/x",
           ",/etc/x",
           ":/etc/x",
           "a,b;c:/etc/x",
           "/nowhere",
           "--out=/nowhere",
           "-o/nowhere",
           "--opt=/etc/a b",
           "a/../../x",
       }) {
    Case c = case_of("pytest", CommandProfile::full);
    ask_about(c, {"pytest", word});
    EXPECT_EQ(path_gate(c, shapes()).decision, Decision::deny) << word;
  }
}

// What people write every day and what only looks like a path.
TEST(PathGate, EverydayArgumentsPass) {
  for (const std::string word : {
           "https://r.example/a/b",
           "--registry=https://r.example/a/b",
           "HTTPS://r.example:8443/a",
           "https://user:word@r.example/a,b",
           "http://localhost:3000/login?next=/dashboard",
           "see https://r.example/a and http://b/c",
           "git+https://h.example/o/r.git@v1",
           "git+ssh://git@h/o/r",
           "git@h.example:o/r.git",
           "postgres://u:p@db/app",
           "redis://localhost:6379/0",
           "s3://bucket/key",
           "sqlite:///app.db",
           "sqlite://",
           "jdbc:postgresql://db:5432/app",
           "localhost:3000/a",
           "-Iinclude/sub",
           "-I./include",
           "-Llib",
           "-ofoo.txt",
           "-run=TestA/sub",
           "-coverpkg=./...,./b",
           "-j4",
           "-n",
           "-",
           "--",
           "--flag=+1/-1",
           "-1/2",
           "--ratio=-1/2",
           "1/2",
           "2024-01-02T10:00:00+02:00",
           "2024/01/02",
           "s/a/b/",
           "a/b:c",
           "a and not b/c",
           "a or /b/c",
           "x / y",
           "7 // 2",
           "a ~ b",
           "HEAD~1",
           "a@~1.2.3",
           "a@^1",
           "@scope/pkg@1.2",
           "node_modules/@scope/pkg",
           "src/c++/a.cc",
           "c++",
           "tests/a.py::Test::test_b[GET /users]",
           "{\"path\": \"/users\"}",
           "./...",
           "pkg/...",
           "a...b",
           "-ldflags=-s -w -X main.version=1.2",
           "--opt=a=b,c=d",
           "key: value",
           "-Dk=v",
           "main.go",
           "",
           "/ws/a",
           "--out=/ws/out",
           "-o/ws/a",
           "file:///ws/a",
           "-qc/ws/a",
       }) {
    Case c = case_of("pytest", CommandProfile::full);
    ask_about(c, {"pytest", word});
    const Verdict verdict = path_gate(c, shapes());
    EXPECT_EQ(verdict.decision, Decision::allow) << word << ": " << verdict.reason;
  }
}

TEST(PathGate, AHomeDirectoryIsNamedAsOne) {
  const Verdict verdict = path_gate(case_of("pytest --rootdir='~/x'", CommandProfile::full), shapes());
  EXPECT_EQ(verdict.reason, "~/x is a home directory to programs that expand it");
  EXPECT_EQ(path_gate(case_of("cat '~/x'"), shapes()).decision, Decision::allow) << "cat expands nothing";
}

TEST(PathGate, WhatNobodyLookedUpIsRefused) {
  Case c = case_of("cat a b");
  c.facts.operands.pop_back();
  EXPECT_EQ(path_gate(c, shapes()).decision, Decision::deny);
  c = case_of("cat a");
  c.facts.workspace = "";
  EXPECT_EQ(path_gate(c, shapes()).decision, Decision::deny) << "without a workspace everything lies outside";
  c.facts.read_roots = {""};
  EXPECT_EQ(path_gate(c, shapes()).decision, Decision::deny);
  c.facts.read_roots = {"/ws"};
  EXPECT_EQ(path_gate(c, shapes()).decision, Decision::allow) << "a declared read root";
}

// A program that tidies link/.. by its letters ends up somewhere else than the kernel.
TEST(PathGate, BothReadingsOfALinksParentCount) {
  Case c = case_of("cat a");
  c.intent.argv = {"cat", "lk/../../ws2/x"};
  c.facts.operands = {{.written = "lk/../../ws2/x", .resolved = "/ws/ws2/x", .kind = FileFact::Kind::file}};
  const Verdict verdict = path_gate(c, shapes());
  EXPECT_EQ(verdict.decision, Decision::deny) << verdict.reason;
  EXPECT_NE(verdict.reason.find("/ws2/x"), std::string::npos) << verdict.reason;
}

TEST(PathGate, APipeAsAnArgumentIsRefusedInPassive) {
  Case c = case_of("go vet x");
  c.intent.argv = {"go", "vet", "./p.go"};
  c.facts.operands = {{.written = "./p.go", .resolved = "/ws/p.go", .kind = FileFact::Kind::other}};
  EXPECT_EQ(path_gate(c, shapes()).decision, Decision::deny);
}

// Where a shape says FILE. Programs walk into a directory and open what is there, pipes too.
TEST(PathGate, ADirectoryIsNoFile) {
  const std::pair<const char*, Decision> rows[] = {
      {"cat folder", Decision::deny},
      {"head -n 5 a folder", Decision::deny},
      {"python3 -m py_compile folder.py", Decision::deny},
      {"mypy a.py folder.py", Decision::deny},
      {"pyflakes folder.py", Decision::deny},
      {"rubocop folder.rb", Decision::deny},
      {"ruby -c folder.rb", Decision::deny},
      {"gofmt -l folder.go", Decision::deny},
      {"gofmt -w folder.go", Decision::deny},
      {"python3 folder.py", Decision::deny},
      {"bash folder.sh", Decision::deny},
      {"ls folder", Decision::allow},
      {"ruff check folder", Decision::allow},
      {"go vet folder", Decision::allow},
      {"pytest folder", Decision::allow},
      {"python3 a.py folder", Decision::allow},
  };
  for (const auto& [cmd, decision] : rows)
    EXPECT_EQ(path_gate(case_of(cmd, CommandProfile::full), shapes()).decision, decision) << cmd;
  EXPECT_EQ(path_gate(case_of("cat folder"), shapes()).reason,
            "folder is a directory, and a file belongs here");
}

TEST(PathGate, TooManyPathsAreRefused) {
  std::string cmd = "pytest";
  for (int i = 0; i < 3000; ++i) cmd += " a:b";
  EXPECT_EQ(path_gate(case_of(cmd, CommandProfile::full), shapes()).decision, Decision::deny);
}

TEST(PathGate, SentencesAreBoundedAndHideNothing) {
  Case c = case_of("cat " + std::string(50'000, 'x'));
  c.facts.operands.clear();
  EXPECT_LT(path_gate(c, shapes()).reason.size(), 1000U);
  c.intent.tool = "";
  c.call.tool = "x\xe2\x80\xae" + std::string(5000, 'y');
  EXPECT_LT(loadout_gate(c).reason.size(), 200U);
  EXPECT_EQ(loadout_gate(c).reason.find("\xe2\x80\xae"), std::string::npos);
}

TEST(PathGate, WithoutAShapeEveryWordMayBeAPath) {
  EXPECT_EQ(path_gate(case_of("rm ../x"), shapes()).decision, Decision::deny);
  EXPECT_EQ(path_gate(case_of("rm a"), shapes()).decision, Decision::allow);
}

TEST(EnvGate, NamesWhatIsLeftOut) {
  Case c = case_of("ls");
  EXPECT_EQ(env_gate(c).reason, "nothing of the caller's environment is passed");
  c.ceilings.pass_env = {"CI", "LANG"};
  EXPECT_EQ(env_gate(c).reason, "passed: CI, LANG");
  c.ceilings.pass_env = {"CI", "MY_TOKEN", "LD_PRELOAD"};
  EXPECT_EQ(env_gate(c).decision, Decision::allow);
  EXPECT_EQ(env_gate(c).reason,
            "left out: MY_TOKEN (it looks like a secret), LD_PRELOAD (it changes what programs do)");
}

TEST(EnvGate, AnOperatorsSecretsStayOutsideTooWhileTheRestIsHisChoice) {
  Case c = case_of("ls");
  c.origin = Case::Origin::operators_command;
  c.ceilings.pass_env = {"EDITOR", "LD_LIBRARY_PATH"};
  EXPECT_EQ(env_gate(c).reason, "passed: EDITOR, LD_LIBRARY_PATH");
  c.ceilings.pass_env = {"EDITOR", "GITHUB_TOKEN"};
  EXPECT_EQ(env_gate(c).decision, Decision::allow);
  EXPECT_EQ(env_gate(c).reason, "left out: GITHUB_TOKEN (it looks like a secret)");
  EXPECT_EQ(env_gate(c).fix, "give it knowingly: -e NAME=VALUE");
}

std::string refusal_of(const Verdict& verdict) { return verdict.reason + "; " + verdict.fix; }

// A call that wants to reach these hosts.
Case reaching(std::vector<std::string> hosts) {
  Case c = case_of("ls");
  c.intent.hosts = std::move(hosts);
  c.ceilings.network = true;
  c.ceilings.level = Autonomy::full;
  c.ceilings.hosts = {"*.example.org:443"};
  return c;
}

TEST(NetworkGate, HostsAgainstWhatWasDeclared) {
  EXPECT_EQ(network_gate(case_of("ls"), shapes()).decision, Decision::allow);
  Case c = reaching({"api.example.org:443"});
  EXPECT_EQ(network_gate(c, shapes()).decision, Decision::allow);
  c.ceilings.level = Autonomy::supervised;
  EXPECT_EQ(network_gate(c, shapes()).decision, Decision::ask);
  c.unasked = true;
  EXPECT_EQ(network_gate(c, shapes()).decision, Decision::allow) << "the skill answers for this tool";
}

TEST(NetworkGate, WhatIsNotDeclaredIsRefusedInOneSentence) {
  const struct {
    std::vector<std::string> wanted;
    std::vector<std::string> declared;
    const char* by;
    const char* says;  // empty: allowed
  } rows[] = {
      {{"evil.example:443"},
       {"api.example.org"},
       "skill code-review, needs_network",
       "egress: connect to evil.example:443 refused: not declared (skill code-review, "
       "needs_network: [api.example.org]); declare it there, or do without; for a skill of a project the "
       "operator has to give --net evil.example:443 as well"},
      {{"api.example.org:443", "evil.example:80"},
       {"*.example.org"},
       "--net",
       "egress: connect to evil.example:80 refused: not declared (--net: [*.example.org]); "
       "do without; the operator can give --net evil.example:80"},
      {{"api.example.org:8443"},
       {"*"},
       "--net",
       "egress: connect to api.example.org:8443 refused: not declared (--net-any); do "
       "without; the operator can give --net api.example.org:8443"},
      {{"localhost:443"},
       {"*"},
       "--net",
       "egress: connect to localhost:443 refused: not declared (--net-any); do without; "
       "the operator can give --net localhost:443"},
      {{"api.example.org:80"}, {"*"}, "--net", ""},
      {{"localhost:8080"}, {"localhost:8080"}, "--net", ""},
      {{"a.org:443"},
       {},
       "skill s, needs_network",
       "egress: connect to a.org:443 refused: not declared (skill s, needs_network: []); "
       "declare it there, or do without; for a skill of a project the operator has to give --net a.org:443 "
       "as well"},
      {{"10.0.0.1:80"},
       {"*"},
       "--net",
       "'10.0.0.1:80' is not the name of a host: it is an address, and hosts go by their names; "
       "write NAME or NAME:PORT"},
  };
  for (const auto& row : rows) {
    Case c = reaching(row.wanted);
    c.ceilings.hosts = row.declared;
    c.ceilings.declared_by = row.by;
    const Verdict verdict = network_gate(c, shapes());
    EXPECT_EQ(verdict.decision == Decision::allow ? "" : refusal_of(verdict), row.says) << row.wanted.back();
  }
  EXPECT_EQ(network_gate(reaching({std::string("evil.example\0.example.org", 24)}), shapes()).decision,
            Decision::deny);
}

TEST(NetworkGate, ProfileAndAutonomyCapIt) {
  Case c = reaching({"api.example.org:443"});
  c.ceilings.network = false;
  EXPECT_EQ(refusal_of(network_gate(c, shapes())),
            "the sandbox profile has no network; do without; the operator can give --profile "
            "workspace-write");
  c = reaching({"api.example.org:443"});
  c.ceilings.level = Autonomy::readonly;
  EXPECT_EQ(refusal_of(network_gate(c, shapes())),
            "autonomy readonly has no network; the operator can raise --autonomy");
  c = reaching({"api.example.org:443"});
  c.ceilings.hosts.clear();
  c.ceilings.network_problem =
      "skill s says needs_network: true and names no host, and the operator gives none";
  EXPECT_EQ(refusal_of(network_gate(c, shapes())),
            "skill s says needs_network: true and names no host, and the operator gives none; "
            "list the hosts in needs_network, or the operator can give --net HOST or --net-any");
}

TEST(NetworkGate, WhatACommandMayReachIsSaid) {
  Case c = case_of("python3 x.py", CommandProfile::full);
  c.ceilings.network = true;
  c.ceilings.hosts = {"a.org", "b.org:8443"};
  EXPECT_EQ(
      network_gate(c, shapes()).reason,
      "autonomy supervised asks before it uses the network: it may reach what is declared (--net: [a.org, "
      "b.org:8443])");
  c.ceilings.level = Autonomy::full;
  EXPECT_EQ(network_gate(c, shapes()).reason, "it may reach what is declared (--net: [a.org, b.org:8443])");
  c = case_of("ls");
  c.ceilings.network = true;
  c.ceilings.hosts = {"a.org"};
  EXPECT_EQ(network_gate(c, shapes()).reason, "the call needs no network") << "passive commands have none";
}

// Whoever declared the hosts: what runs with a network is asked about, and nothing else is.
TEST(NetworkGate, SupervisedAsksForEveryCallThatRunsWithANetwork) {
  using Start = Case (*)(CommandProfile);
  const Start command = [](CommandProfile most) { return case_of("python3 x.py", most); };
  const Start passive = [](CommandProfile most) { return case_of("ls", most); };
  const Start script = [](CommandProfile) {
    Case c = case_of("");
    c.intent = {.tool = "run_script", .launch = Launch{.argv = {"bash"}, .network = true}, .opaque = true};
    return c;
  };
  const Start alone = [](CommandProfile) {
    Case c = case_of("");
    c.intent = {.tool = "run_python", .launch = Launch{.argv = {"python3"}}};
    return c;
  };
  const Start file_tool = [](CommandProfile) {
    Case c = case_of("");
    c.intent = {.tool = "read_artifact", .launch = Launch{.network = true}};
    return c;
  };
  const Start operators = [](CommandProfile most) {
    Case c = case_of("python3 x.py", most);
    c.origin = Case::Origin::operators_command;
    return c;
  };
  const struct {
    const char* what;
    Start start;
    CommandProfile most;
    std::vector<std::string> hosts;
    Decision answer;
  } rows[] = {
      {"a command", command, CommandProfile::full, {"a.org"}, Decision::ask},
      {"any public name", command, CommandProfile::any, {"*"}, Decision::ask},
      {"every command is any", passive, CommandProfile::any, {"a.org"}, Decision::ask},
      {"a script", script, CommandProfile::passive, {"a.org"}, Decision::ask},
      {"no host", command, CommandProfile::full, {}, Decision::allow},
      {"a passive session", passive, CommandProfile::passive, {"a.org"}, Decision::allow},
      {"a passive shape in a wider one", passive, CommandProfile::full, {"a.org"}, Decision::allow},
      {"code that has none", alone, CommandProfile::full, {"a.org"}, Decision::allow},
      {"nothing is started", file_tool, CommandProfile::full, {"a.org"}, Decision::allow},
      {"an operator's command", operators, CommandProfile::any, {"a.org"}, Decision::allow},
  };
  for (const auto& row : rows) {
    Case c = row.start(row.most);
    c.ceilings.level = Autonomy::supervised;
    c.ceilings.network = true;
    c.ceilings.hosts = row.hosts;
    EXPECT_EQ(network_gate(c, shapes()).decision, row.answer) << row.what;
    c.ceilings.declared_by = "skill s, needs_network";
    EXPECT_EQ(network_gate(c, shapes()).decision, row.answer) << row.what << ", of a skill";
    c.unasked = true;
    EXPECT_EQ(network_gate(c, shapes()).decision, Decision::allow) << row.what << ", which the skill answers";
    c.unasked = false;
    c.ceilings.level = Autonomy::full;
    EXPECT_EQ(network_gate(c, shapes()).decision, Decision::allow) << row.what << ", autonomy full";
    c.ceilings.level = Autonomy::supervised;
    c.ceilings.network = false;
    EXPECT_EQ(network_gate(c, shapes()).decision, Decision::allow) << row.what << ", a profile without";
  }
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
  c.origin = Case::Origin::operators_command;
  c.intent.form = Intent::Form::words;
  c.intent.argv = {"/bin/sh", "-c", "ls | cat"};
  for (const Verdict& verdict :
       {loadout_gate(c), shape_gate(c, shapes()), no_shell_gate(c), path_gate(c, shapes())})
    EXPECT_EQ(verdict.decision, Decision::allow) << name_of(verdict.gate);
}

}  // namespace
}  // namespace cloche
