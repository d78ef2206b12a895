// Lines that only a shell runs: under `any`, which `mcp` has, they run as scripts, and the rules of every
// tool that could have run them speak.
#include <gtest/gtest.h>

#include <fstream>

#include "mcp/driver.hpp"

namespace cloche::test {
namespace {

class ShellLines : public testing::Test {
 protected:
  std::string says(const std::string& arguments, const std::string& tool = "run_shell") {
    McpClient client(scene);
    client.shake_hands();
    return text_of(client.ask("1", "tools/call", call_params(tool, arguments)));
  }
  void file(const std::string& name, const std::string& text) const {
    fs::create_directories((scene.workspace() / name).parent_path());
    std::ofstream(scene.workspace() / name) << text;
  }
  McpScene scene;
};

TEST_F(ShellLines, RunWithoutARefusalAndWithoutASecondTurn) {
  file("a.txt", "one\ntwo\n");
  file("py/b.txt", "three\n");
  const std::pair<const char*, const char*> rows[] = {
      {R"({"cmd": "cat a.txt | wc -l"})", "stdout: 2\n"},
      {R"({"cmd": "cd py && cat b.txt"})", "stdout: three\n"},
      {R"({"cmd": "X=5; echo \"<$X>\""})", "stdout: <5>\n"},
      {R"({"cmd": "echo one\necho two"})", "stdout: one\ntwo\n"},
      {R"({"cmd": "echo 'a b' > c.txt; cat c.txt"})", "stdout: a b\n"},
      {R"({"cmd": "cat", "stdin": "x"})", "stdout: x\n"},
      {R"({"cmd": "cat | tr x y", "stdin": "x"})", "stdout: y\n"},
      {R"({"cmd": "cat b.txt", "cwd": "py"})", "stdout: three\n"},
      {R"({"cmd": "cat b.txt | head -n 1", "cwd": "py"})", "stdout: three\n"},
      {R"({"argv": ["pwd"], "cwd": "./py/../py"})", "/py\n"},
      {R"({"cmd": "export A=1"})", "exit_code: 0\n"},
      {R"({"cmd": "mkdir -p {src,tests}/unit && ls -d */unit"})", "stdout: src/unit\ntests/unit\n"},
      {R"({"cmd": "echo {a,b}"})", "stdout: a b\n"},
      {R"({"cmd": "echo list # a comment"})", "stdout: list\n"},
      {R"({"cmd": "echo 'a\tb'"})", "stdout: a\tb\n"},
      {R"({"cmd": "echo one\r\ntrue"})", "stdout: one\r\n"},
      {R"({"cmd": "find a.txt -exec echo stash@{0} {} +"})", "stdout: stash@{0} a.txt\n"},
      {R"({"cmd": "echo it\\'s \"a \\$b\" 2>/dev/null && true"})", "stdout: it's a $b\n"},
  };
  for (const auto& [arguments, shown] : rows) {
    const std::string text = says(arguments);
    EXPECT_TRUE(text.starts_with("exit_code: 0\n")) << arguments << ": " << text;
    EXPECT_NE(text.find(shown), std::string::npos) << arguments << ": " << text;
  }
}

TEST_F(ShellLines, BelowAnyTheRefusalHasTheWholeCallThatWorks) {
  file("a.txt", "one\n");
  const std::string refused = says(R"({"cmd": "cat a.txt | wc -l", "profile": "full"})");
  const std::string before = "call run_script ";
  ASSERT_TRUE(refused.starts_with("refused by no-shell: ")) << refused;
  ASSERT_NE(refused.find(before), std::string::npos) << refused;
  const std::string call = refused.substr(refused.find(before) + before.size());
  EXPECT_TRUE(says(call, "run_script").starts_with("exit_code: 0\nstdout: 1\n")) << call;
  for (const char* cmd : {"cd py", "export A=1", "source x", "echo \\\"$HOME\\\"", "mkdir {a,b}", "ls # all",
                          "echo 'a\\tb'", "ls\\r\\n"}) {
    const std::string text = says(std::string(R"({"profile": "full", "cmd": ")") + cmd + "\"}");
    EXPECT_TRUE(text.starts_with("refused by no-shell: ")) << text;
    EXPECT_EQ(text.find("not installed"), std::string::npos) << text;
  }
}

// What else would be possible is no way around a rule.
TEST_F(ShellLines, WhatTheOperatorForbidsIsSaidBeforeAnotherWay) {
  scene.configure(R"({"permissions": {"default": "allow", "rules": [
    {"tool": "run_shell", "args": {"cmd": "touch"}, "action": "deny", "reason": "no new files"}]}})");
  for (const char* arguments :
       {R"({"profile": "full", "cmd": "touch a | cat"})", R"({"profile": "passive", "cmd": "touch a"})",
        R"({"cmd": "touch a", "cwd": "../elsewhere"})"}) {
    const std::string text = says(arguments);
    EXPECT_TRUE(text.starts_with("refused by rules: no new files")) << text;
    EXPECT_EQ(text.find("run_script"), std::string::npos) << text;
  }
  EXPECT_TRUE(says(R"({"cmd": "touch a", "unknown": 1})").starts_with("refused by schema: "));
}

TEST_F(ShellLines, WhereACallStartsIsInTheWorkspace) {
  file("py/b.txt", "three\n");
  fs::create_directory_symlink("/etc", scene.workspace() / "out");
  for (const char* cwd : {"..", "/", "/etc", "out", "py/../..", "gone", "py/b.txt"}) {
    for (const char* cmd : {"ls", "ls; ls"}) {
      const std::string text = says(std::string(R"({"cmd": ")") + cmd + R"(", "cwd": ")" + cwd + "\"}");
      EXPECT_TRUE(text.starts_with("refused by path: cwd ")) << cwd << ": " << text;
    }
  }
}

// A rule is about what holds, and the call need not say it.
TEST_F(ShellLines, RulesSeeWhereACallStartsAndItsProfileAlsoUnsaid) {
  file("py/b.txt", "three\n");
  scene.configure(R"({"permissions": {"default": "allow", "rules": [
    {"tool": "run_shell", "args": {"cmd": "^id", "cwd": "^\\.$"}, "action": "deny", "reason": "not at the top",
     "match": [{"args": {"cmd": "id"}}], "not_match": [{"args": {"cmd": "id", "cwd": "py"}}]},
    {"tool": "run_shell", "args": {"cmd": "^ls", "profile": "^any$"}, "action": "deny", "reason": "no any"},
    {"tool": "run_script", "args": {"code": "print", "cwd": "^\\.$"}, "action": "deny", "reason": "no code"}]}})");
  for (const char* arguments :
       {R"({"cmd": "id"})", R"({"cmd": "id", "cwd": "."})", R"({"cmd": "id", "cwd": "py/.."})",
        R"({"cmd": "true; id"})", R"({"cmd": "ls"})", R"({"cmd": "ls; true"})",
        R"({"cmd": "ls", "profile": "any"})"})
    EXPECT_TRUE(says(arguments).starts_with("refused by rules: ")) << arguments << ": " << says(arguments);
  for (const char* arguments :
       {R"({"interpreter": "bash", "code": "id"})", R"({"interpreter": "bash", "code": "ls"})",
        R"({"interpreter": "python3", "code": "print"})"})
    EXPECT_TRUE(says(arguments, "run_script").starts_with("refused by rules: ")) << arguments;
  for (const char* arguments : {R"({"cmd": "id", "cwd": "py"})", R"({"cmd": "ls", "profile": "passive"})"})
    EXPECT_TRUE(says(arguments).starts_with("exit_code: 0")) << arguments << ": " << says(arguments);
}

// Nothing passes by adding a ; to it.
TEST_F(ShellLines, TheRulesOfEveryToolThatCouldRunItSpeak) {
  scene.configure(R"({"permissions": {"default": "allow", "rules": [
    {"tool": "run_shell", "args": {"cmd": "^touch no"}, "action": "deny", "reason": "a"},
    {"tool": "run_script", "args": {"code": "touch never"}, "action": "deny", "reason": "b"},
    {"tool": "run_shell", "args": {"cwd": "^secret"}, "action": "deny", "reason": "c"}]}})");
  file("secret/x", "");
  fs::create_directory_symlink("secret", scene.workspace() / "link");
  const std::pair<const char*, bool> rows[] = {
      {R"({"cmd": "touch no"})", false},
      {R"({"cmd": "touch no;"})", false},
      {R"({"cmd": "true; touch no"})", false},
      {R"({"cmd": "true && 'touch' no"})", false},
      {R"({"cmd": "true\n  touch no"})", false},
      {R"({"cmd": "X=1; touch no$X"})", false},
      {R"({"cmd": "if true; then touch no; fi"})", false},
      {R"x({"cmd": "(touch no)"})x", false},
      {R"({"cmd": "true; touch never"})", false},
      {R"({"cmd": "ls", "cwd": "secret"})", false},
      {R"({"cmd": "ls", "cwd": "link"})", false},
      {R"({"cmd": "ls; ls", "cwd": "./link"})", false},
      {R"({"cmd": "true; touch yes"})", true},
  };
  for (const auto& [arguments, passes] : rows) {
    const std::string text = says(arguments);
    EXPECT_EQ(text.starts_with(passes ? "exit_code: 0" : "refused by rules: "), true)
        << arguments << ": " << text;
  }
  EXPECT_TRUE(says(R"({"interpreter": "bash", "code": "true; touch no"})", "run_script")
                  .starts_with("refused by rules"));
  for (const char* name : {"no", "no1", "never"}) EXPECT_FALSE(fs::exists(scene.workspace() / name));
  EXPECT_TRUE(fs::exists(scene.workspace() / "yes"));
}

TEST_F(ShellLines, AnAllowIsOneForEveryPart) {
  scene.configure(R"({"permissions": {"default": "deny", "rules": [
    {"tool": "run_shell", "args": {"cmd": "^(touch|ls)\\b"}, "action": "allow"}]}})");
  const std::pair<const char*, bool> rows[] = {
      {"touch a", true},
      {"touch a; ls", true},
      {"touch a && ls 2>/dev/null | ls", true},
      {"touch a; rm a", false},
      {"touch a $(rm a)", false},
      {"touch a > b", false},
      {"touch a; PATH=. ls", false},
      {"ls() { rm a; }; ls", false},
      {"touch a; hash -p /bin/rm ls; ls a", false},
      {"touch a; test -v 'x[$(rm a)]'", false},
      {"touch a; cd /tmp; ls", false},
  };
  for (const auto& [cmd, passes] : rows) {
    const std::string text = says(std::string(R"({"cmd": ")") + cmd + "\"}");
    EXPECT_EQ(text.starts_with("exit_code: 0"), passes) << cmd << ": " << text;
  }
  EXPECT_TRUE(fs::exists(scene.workspace() / "a"));
}

}  // namespace
}  // namespace cloche::test
