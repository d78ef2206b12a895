// `cloche run` under an operator's rules: the command that is refused does not run, the one that asks runs
// only after a yes at the terminal, and a dry run says what each gate would say.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../run/json.hpp"
#include "harness/harness.hpp"

namespace cloche::test {
namespace {

class JudgedRun : public testing::Test {
 protected:
  JudgedRun() {
    scene.write("config/cloche/config.json", R"({"permissions": {"rules": [
      {"tool": "run_shell", "args": {"cmd": "^touch"}, "action": "deny", "reason": "nothing is touched"},
      {"tool": "run_shell", "args": {"cmd": "^echo "}, "action": "allow"}], "default": "ask"}})");
  }
  Ran cloche_run(std::vector<std::string> words) {
    words.insert(words.begin(), {cloche(), "run"});
    return run({.argv = words, .cwd = scene.workspace(), .env = environment()});
  }
  std::map<std::string, std::string> environment() {
    return {{"XDG_CONFIG_HOME", (scene.root() / "config").string()}};
  }

  // The same with a terminal of its own, at which `typed` is answered once the question stands there.
  std::string at_a_terminal(const std::vector<std::string>& command, const std::string& typed, int* status) {
    int master = -1;
    const pid_t child = ::forkpty(&master, nullptr, nullptr, nullptr);
    if (child == 0) {
      ::setenv("XDG_CONFIG_HOME", (scene.root() / "config").c_str(), 1);
      if (::chdir(scene.workspace().c_str()) != 0) ::_exit(99);
      std::vector<std::string> words = {cloche(), "run", "--"};
      words.insert(words.end(), command.begin(), command.end());
      std::vector<char*> argv;
      for (auto& word : words) argv.push_back(word.data());
      argv.push_back(nullptr);
      ::execv(argv[0], argv.data());
      ::_exit(99);
    }
    std::string shown;
    bool answered = false;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(master, buffer, sizeof buffer)) > 0;) {
      shown.append(buffer, static_cast<size_t>(got));
      if (!answered && shown.ends_with("> ")) {
        answered = ::write(master, typed.data(), typed.size()) == static_cast<ssize_t>(typed.size());
      }
    }
    ::close(master);
    int wait_status = 0;
    ::waitpid(child, &wait_status, 0);
    *status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
    return shown;
  }

  Scene scene{As::self};
};

TEST_F(JudgedRun, WhatARuleAllowsRuns) {
  const Ran ran = cloche_run({"--", "echo", "fine"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out, "fine\n");
}

TEST_F(JudgedRun, WhatARuleDeniesDoesNotRun) {
  const Ran ran = cloche_run({"--", "touch", "planted"});
  EXPECT_EQ(ran.exit_code, 126);
  EXPECT_NE(ran.err.find("nothing is touched"), std::string::npos) << ran.err;
  EXPECT_FALSE(std::filesystem::exists(scene.workspace() / "planted"));
  const auto json = parse_json(cloche_run({"--json", "--", "touch", "planted"}).out);
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["outcome"].string, "refused");
}

TEST_F(JudgedRun, WhereNobodyCanBeAskedTheAnswerIsNo) {
  const Ran ran = cloche_run({"--", "uname"});
  EXPECT_EQ(ran.exit_code, 126);
  EXPECT_EQ(ran.out, "");
}

TEST_F(JudgedRun, APersonAtTheTerminalDecides) {
  int status = -1;
  EXPECT_NE(at_a_terminal({"uname"}, "y\n", &status).find("Linux"), std::string::npos);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(at_a_terminal({"uname"}, "n\n", &status).find("Linux"), std::string::npos);
  EXPECT_EQ(status, 126);
}

TEST_F(JudgedRun, ADryRunHasEveryGatesAnswer) {
  const Ran ran = cloche_run({"--dry-run", "--json", "--", "touch", "planted"});
  EXPECT_EQ(ran.exit_code, 126);
  const auto json = parse_json(ran.out);
  ASSERT_TRUE(json) << ran.out;
  EXPECT_EQ((*json)["decision"].string, "deny");
  EXPECT_EQ((*json)["gates"].array.size(), 9U);
}

TEST_F(JudgedRun, AFileThatCannotBeReadRefusesEveryRun) {
  scene.write("config/cloche/config.json", "{\"permissions\": {\"rulez\": []}}");
  const Ran ran = cloche_run({"--", "echo", "fine"});
  EXPECT_EQ(ran.exit_code, 125);
  EXPECT_NE(ran.err.find("config.json:1"), std::string::npos) << ran.err;
}

TEST_F(JudgedRun, AProjectsFileCountsToo) {
  scene.write("workspace/.cloche/config.json", R"({"permissions": {"rules": [
      {"tool": "*", "action": "deny", "reason": "the project says no"}]}})");
  std::filesystem::remove(scene.root() / "config/cloche/config.json");
  const Ran ran = cloche_run({"--", "echo", "fine"});
  EXPECT_EQ(ran.exit_code, 126);
  EXPECT_NE(ran.err.find("the project says no"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace cloche::test
