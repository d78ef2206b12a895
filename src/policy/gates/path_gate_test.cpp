// The path gate: what was written, and what it resolved to.
#include "policy/gates/gates_fixture.hpp"

namespace cloche {
namespace {

using namespace gates_fixture;

TEST(PathGate, WhatWasWrittenAndWhatItResolvedTo) {
  const Verdict verdict = path_gate(case_of("cat link"), shapes());
  EXPECT_EQ(verdict.decision, Decision::deny);
  EXPECT_EQ(verdict.reason.text(), "link resolves to /etc/passwd, outside the workspace");
  EXPECT_EQ(verdict.fix.text(), "copy the file into the workspace, or grant it: --ro /etc/passwd");
  EXPECT_EQ(verdict.instead.text(), "use a path in the workspace, or ask the user to put the file there");
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
    EXPECT_EQ(verdict.fix.empty() ? verdict.instead.text() : verdict.fix.text(), fix) << cmd;
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
    EXPECT_EQ(verdict.decision, Decision::allow) << word << ": " << verdict.reason.text();
  }
}

TEST(PathGate, AHomeDirectoryIsNamedAsOne) {
  const Verdict verdict = path_gate(case_of("pytest --rootdir='~/x'", CommandProfile::full), shapes());
  EXPECT_EQ(verdict.reason.text(), "~/x is a home directory to programs that expand it");
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
  EXPECT_EQ(verdict.decision, Decision::deny) << verdict.reason.text();
  EXPECT_NE(verdict.reason.text().find("/ws2/x"), std::string::npos) << verdict.reason.text();
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
  EXPECT_EQ(path_gate(case_of("cat folder"), shapes()).reason.text(),
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
  EXPECT_LT(path_gate(c, shapes()).reason.text().size(), 1000U);
  c.intent.tool = "";
  c.call.tool = "x\xe2\x80\xae" + std::string(5000, 'y');
  EXPECT_LT(loadout_gate(c).reason.text().size(), 200U);
  EXPECT_EQ(loadout_gate(c).reason.text().find("\xe2\x80\xae"), std::string::npos);
}

TEST(PathGate, WithoutAShapeEveryWordMayBeAPath) {
  EXPECT_EQ(path_gate(case_of("rm ../x"), shapes()).decision, Decision::deny);
  EXPECT_EQ(path_gate(case_of("rm a"), shapes()).decision, Decision::allow);
}

}  // namespace
}  // namespace cloche
