// The lessons that the gates answer, by number, each as one small story.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "harness/harness.hpp"
#include "judged_call.hpp"
#include "policy/gates/gates.hpp"

namespace cloche::test {
namespace {

class GateLesson : public testing::Test {
 protected:
  Decision decision(const std::string& cmd, CommandProfile commands = CommandProfile::passive) {
    return call_run_shell(scene.workspace(), cmd, commands).explanation.judgement.decision;
  }
  Scene scene{As::self};
};

TEST_F(GateLesson, L01_SafeLookingCommandsThatAreNot) {
  for (const std::string cmd :
       {"echo x; curl evil", "rg --pre ./x y", "sed -n 1e a", "sed 's/a/b/w out' a", "find . -exec sh {} +",
        "cd .. ; ls", "git grep -O./x y", "sort -o a b", "env ls", "xargs ls", "tar -xf a --to-command=./x",
        "awk 'BEGIN{system(1)}'", "cat a\nrm b", "ls $(rm b)", "ls `rm b`", "bash -c ls", "head --lines=5 a",
        "man -P ./x ls"}) {
    EXPECT_EQ(decision(cmd), Decision::deny) << cmd;
  }
}

TEST_F(GateLesson, L01_WhatWasJudgedIsWhatRuns) {
  scene.write("workspace/a; touch made", "content\n");
  const Called called = call_run_shell(scene.workspace(), "cat 'a; touch made'");
  ASSERT_TRUE(called.outcome);
  EXPECT_EQ(called.outcome->output, "content\n");
  EXPECT_FALSE(fs::exists(scene.workspace() / "made"));
}

TEST_F(GateLesson, L02_PathsAreComparedByComponents) {
  scene.write("workspace-evil/secret", "secret\n");
  scene.write("workspace/-n", "x\n");
  fs::create_symlink("../workspace-evil/secret", scene.workspace() / "link");
  fs::create_symlink("/etc", scene.workspace() / "etc");
  const std::string root = scene.root().string();
  const std::vector<std::string> outside = {"../workspace-evil/secret",
                                            root + "/workspace-evil/secret",
                                            root + "/workspace/../workspace-evil/secret",
                                            "link",
                                            "etc/passwd",
                                            "/etc/passwd",
                                            "./x/../../workspace-evil/secret",
                                            "/proc/self/root/etc/passwd",
                                            "-n"};
  for (const auto& path : outside) {
    EXPECT_EQ(decision("cat '" + path + "'"), Decision::deny) << path;
  }
  EXPECT_EQ(decision("cat ./-n"), Decision::allow);
  EXPECT_EQ(decision("cat " + scene.workspace().string() + "/./x/../y"), Decision::allow)
      << "absolute and inside";
}

TEST_F(GateLesson, L07_AnEmptyLoadoutIsNoTool) {
  Case c;
  c.call.tool = c.intent.tool = "run_shell";
  c.ceilings.loadout = std::vector<std::string>{};
  EXPECT_EQ(loadout_gate(c).decision, Decision::deny);
  c.ceilings.loadout = std::nullopt;
  EXPECT_EQ(loadout_gate(c).decision, Decision::allow);
}

TEST_F(GateLesson, L08_ALimitInTheCheckerDenies) {
  std::string many = "pytest";
  for (int i = 0; i < 3000; ++i) many += " a:b";
  EXPECT_EQ(decision(many, CommandProfile::full), Decision::deny);
  std::string words = "cat";
  for (size_t i = 0; i < max_argv_words; ++i) words += " a";
  EXPECT_EQ(decision(words), Decision::deny);
  EXPECT_EQ(decision("cat " + std::string(max_argv_bytes, 'a')), Decision::deny);
}

TEST_F(GateLesson, L09_NamesOfProgramsMeanLittle) {
  scene.write("workspace/ls", "#!/bin/sh\necho planted\n", 0755);
  for (const std::string cmd :
       {"/proc/self/root/usr/bin/ls", "./ls", "/lib64/ld-linux-x86-64.so.2 /bin/ls", "/bin/ls", "LS"})
    EXPECT_EQ(decision(cmd, CommandProfile::full), Decision::deny) << cmd;
  const Called called = call_run_shell(scene.workspace(), "ls");
  ASSERT_TRUE(called.outcome);
  EXPECT_EQ(called.outcome->output, "ls\n") << "the system's, not the planted one";
}

TEST_F(GateLesson, L11_EnvironmentAndDirectoryBelongToThePlan) {
  ::setenv("PYTHONSTARTUP", "/evil", 1);
  const Called called = call_run_shell(scene.workspace(), "ls");
  ::unsetenv("PYTHONSTARTUP");
  ASSERT_TRUE(called.explanation.plan());
  for (const auto& [name, value] : called.explanation.plan()->environment) EXPECT_NE(value, "/evil") << name;
  EXPECT_EQ(called.explanation.plan()->directory, fs::canonical(scene.workspace()));
}

TEST_F(GateLesson, L12_AParseErrorDeniesInEveryProfile) {
  for (auto commands : {CommandProfile::passive, CommandProfile::full, CommandProfile::any}) {
    for (const std::string cmd : {"ls 'x", "ls \"x", "ls \\", "", "'' x", "ls \x01", "ls\nrm \x01"})
      EXPECT_EQ(decision(cmd, commands), Decision::deny) << cmd;
    if (commands == CommandProfile::any) continue;  // there a shell's line is a script
    for (const std::string cmd : {"ls && rm -rf x", "ls\nrm x", "ls | tee x", "ls \"$x\"", "cd x"})
      EXPECT_EQ(decision(cmd, commands), Decision::deny) << cmd;
  }
}

TEST_F(GateLesson, L13_ShapesFromTheWorkspaceAreRefused) {
  scene.write("workspace/config/cloche/commands/mine.json",
              "{\"profile\": \"passive\", \"shapes\": [{\"id\": \"x\", \"usage\": \"sh\", \"argv\": [\"sh\", "
              "{\"args\": \"any\"}], "
              "\"accepts\": [\"sh x\"], \"refuses\": [\"y\"]}]}");
  const Ran ran = test::run({.argv = {cloche(), "explain", "call", "run_shell", R"({"cmd":"sh x"})"},
                             .cwd = scene.workspace(),
                             .env = {{"XDG_CONFIG_HOME", (scene.workspace() / "config").string()}}});
  EXPECT_EQ(ran.exit_code, 125) << ran.out;
  EXPECT_NE(ran.err.find("lies in the workspace"), std::string::npos) << ran.err;
}

TEST_F(GateLesson, L24_WhatWasExplainedIsWhatRuns) {
  scene.write("workspace/a.py", "print(1)\n");
  for (const std::string cmd :
       {"ls", "cat a.py", "python3 -m py_compile a.py", "python3 a.py", "head -n 1 a.py"}) {
    const Called called = call_run_shell(scene.workspace(), cmd, CommandProfile::full);
    ASSERT_TRUE(called.outcome) << cmd;
    EXPECT_EQ(called.outcome->exit_code, 0) << cmd << called.outcome->errors;
    EXPECT_EQ(called.planned_digest, called.run_digest) << cmd;
  }
}

TEST_F(GateLesson, APipeThatNeverEndsIsRefused) {
  ASSERT_EQ(::mkfifo((scene.workspace() / "pipe").c_str(), 0666), 0);
  EXPECT_EQ(decision("cat pipe"), Decision::deny);
  EXPECT_EQ(decision("head pipe"), Decision::deny);
}

}  // namespace
}  // namespace cloche::test
