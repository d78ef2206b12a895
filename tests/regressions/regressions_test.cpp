// What broke in other systems that do this job, by the number under which we keep the lesson, each as one
// small story. tests/escape attacks the same promises harder; here stands what must not come back.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <thread>

#include "harness/harness.hpp"

namespace cloche::test {
namespace {

class Lesson : public testing::TestWithParam<As> {
 protected:
  Ran inside(const std::string& script, std::vector<std::string> flags = {},
             std::map<std::string, std::string> env = {}) {
    flags.insert(flags.begin(), {"--workspace", scene.workspace()});
    return run(
        {.argv = under_cloche(flags, {"/bin/sh", "-c", script}), .as = GetParam(), .env = std::move(env)});
  }
  Scene scene{GetParam()};
};

std::set<std::string> names_below(const fs::path& root) {
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(root))
    names.insert(fs::relative(entry.path(), root));
  return names;
}

TEST_P(Lesson, L04_WhatWasNotThereIsJudgedAsWell) {
  const Ran ran = inside(R"(mkdir -p .claude .git/hooks sub/.git/hooks
echo '{}' > .claude/settings.json; echo '{}' > .mcp.json
echo x > .git/hooks/pre-commit; echo x > sub/.git/hooks/pre-commit)");
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_NE(ran.err.find("withheld (.claude: "), std::string::npos) << ran.err;
  for (const char* name : {".claude", ".mcp.json", ".git/hooks/pre-commit", "sub/.git/hooks/pre-commit"}) {
    EXPECT_FALSE(fs::exists(scene.workspace() / name)) << name;
  }
}

TEST_P(Lesson, L05_ALinkInTheWorkspaceLeadsNowhere) {
  scene.write("secret", "the secret\n");
  fs::create_symlink("../secret", scene.workspace() / "link");
  const Ran ran = inside("cat link");
  EXPECT_NE(ran.exit_code, 0);
  EXPECT_EQ(ran.out.find("the secret"), std::string::npos);
  EXPECT_EQ(read_file(scene.workspace() / "link"), "the secret\n") << "the control: outside the link works";
}

TEST_P(Lesson, L07_AnEmptyEnvironmentListPassesNothing) {
  const Ran ran = inside("env", {}, {{"PLAIN_NAME", "plain-value"}});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.out.find("plain-value"), std::string::npos) << ran.out;
}

TEST_P(Lesson, L09_OtherNamesOfAProgramGetNoFurther) {
  const Ran ran = inside(
      "cp /usr/bin/touch ./copy; ./copy /usr/planted; /proc/self/root/usr/bin/touch /usr/planted;"
      "/lib64/ld-linux-x86-64.so.2 ./copy /usr/planted; test -e /usr/planted && echo PLANTED; true");
  EXPECT_EQ(ran.out.find("PLANTED"), std::string::npos);
  EXPECT_FALSE(fs::exists("/usr/planted"));
}

TEST_P(Lesson, L11_APoisonedEnvironmentIsLeftOutside) {
  const Ran ran = inside("true", {},
                         {{"LD_PRELOAD", "/nonexistent/evil.so"},
                          {"BASH_ENV", "/nonexistent/evil.sh"},
                          {"GIT_SSH_COMMAND", "evil"},
                          {"PYTHONSTARTUP", "/nonexistent/evil.py"}});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(inside("env | grep -c -e LD_PRELOAD -e BASH_ENV -e GIT_SSH -e PYTHONSTARTUP").out, "0\n");
}

TEST_P(Lesson, L13_RootsComeFromTheOperator) {
  // The command's own choice of directory makes nothing else writable.
  const Ran ran =
      inside("cd / && echo x > planted; cd /usr && echo x > planted; cd /home && echo x > planted; true");
  EXPECT_EQ(ran.out, "");
  EXPECT_FALSE(fs::exists("/planted") || fs::exists("/usr/planted") || fs::exists("/home/planted"));
}

TEST_P(Lesson, L14_WhatTheHostExecutesLaterIsNotLeftBehind) {
  const std::string config = "[core]\n\tbare = false\n";
  scene.write("workspace/.git/config", config);
  const Ran ran = inside(R"(printf '[core]\n\tfsmonitor = x\n' > .git/config
mkdir -p .vscode home b/objects b/refs; echo x > .vscode/tasks.json; echo x > .envrc; echo x > home/.bashrc
printf '[filter "x"]\n\tclean = x\n' > b/config; printf '[core]\n\thooksPath = x\n' > .git/config.worktree)");
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(read_file(scene.workspace() / ".git/config"), config);
  for (const char* name : {".vscode", ".envrc", "home/.bashrc", "b/config", ".git/config.worktree"})
    EXPECT_FALSE(fs::exists(scene.workspace() / name)) << name << ran.err;
}

TEST_P(Lesson, L17_WhatIsMissingRefuses) {
  // In that user namespace /var/tmp is another user's, so there is no place for a record.
  scene.write("config/cloche/config.json", R"({"record": "off"})");
  const std::string script = "echo 0 > /proc/sys/user/max_user_namespaces && exec " + cloche() +
                             " run --workspace " + scene.workspace().string() + " -- echo RAN";
  const Ran ran = run({.argv = {"unshare", "--user", "--map-root-user", "sh", "-c", script},
                       .as = GetParam(),
                       .env = {{"HOME", scene.root()}, {"XDG_CONFIG_HOME", scene.root() / "config"}}});
  EXPECT_EQ(ran.exit_code, 125) << ran.err;
  EXPECT_EQ(ran.out.find("RAN"), std::string::npos);
  EXPECT_NE(ran.err.find("missing layer user-ids"), std::string::npos) << ran.err;
}

TEST_P(Lesson, L18_NothingIsLeftInTheTree) {
  scene.write("workspace/kept", "kept\n");
  const auto before = names_below(scene.root());
  EXPECT_EQ(inside("ls -a").exit_code, 0);
  EXPECT_EQ(inside("ls", {"--ro", scene.root().string() + "/workspace/kept:/opt-not-there/kept"}).exit_code,
            0);
  EXPECT_EQ(names_below(scene.root()), before);
  // Killed midway, too.
  {
    Started started(
        {.argv = under_cloche({"--workspace", scene.workspace()}, {"/bin/sleep", "100"}), .as = GetParam()});
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(names_below(scene.root()), before);
}

TEST_P(Lesson, L18_AGrantThatCannotBePlacedIsAnErrorByName) {
  const Ran ran = inside("true", {"--ro", "/usr/share/doc:/usr/not-there/doc"});
  EXPECT_EQ(ran.exit_code, 125);
  EXPECT_NE(ran.err.find("/usr/share/doc"), std::string::npos) << ran.err;
  EXPECT_FALSE(fs::exists("/usr/not-there"));
}

TEST_P(Lesson, L21_OnlyThisDirectoryIsReadable) {
  scene.write("beside/file", "beside\n");
  const Ran ran = inside("ls .. ; cat ../beside/file");
  EXPECT_EQ(ran.out, "workspace\n");
  EXPECT_NE(ran.exit_code, 0);
}

TEST_P(Lesson, L24_TheDryRunIsThePlanThatRuns) {
  const auto digest_in = [](const std::string& json) {
    const size_t at = json.find("\"plan_digest\":\"sha256:");
    return at == std::string::npos ? std::string() : json.substr(at, 22 + 64);
  };
  const Ran dry = inside("true", {"--dry-run", "--json"});
  const Ran real = inside("true", {"--json"});
  ASSERT_FALSE(digest_in(dry.out).empty()) << dry.out;
  EXPECT_EQ(digest_in(dry.out), digest_in(real.out));
}

TEST_P(Lesson, L26_ADaemonThatHoldsThePipeHoldsNobody) {
  const Ran ran = inside("(setsid sleep 100 &) ; echo done");
  EXPECT_EQ(ran.out, "done\n");
  EXPECT_LT(ran.seconds, 5);
  const Ran late = inside("(setsid sleep 100 &) ; sleep 100", {"--timeout", "1s"});
  EXPECT_EQ(late.exit_code, 124);
  EXPECT_LT(late.seconds, 4);
}

TEST_P(Lesson, L27_SecretsOfTheCallerStayWithTheCaller) {
  const Ran ran = inside("env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'", {},
                         {{"AWS_SECRET_ACCESS_KEY", "hunter2"}});
  EXPECT_EQ((ran.out + ran.err).find("hunter2"), std::string::npos);
}

TEST_P(Lesson, L30_ProcessesAreCountedForEachSandboxAlone) {
  // Two at once, each of which needs almost its whole allowance: a limit by user id would starve one of them.
  const std::string script = "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 1 & done; wait; echo all";
  std::vector<std::string> flags = {"--workspace", scene.workspace(), "--pids", "12"};
  Started one({.argv = under_cloche(flags, {"/bin/sh", "-c", script}), .as = GetParam()});
  const Ran two = run({.argv = under_cloche(flags, {"/bin/sh", "-c", script}), .as = GetParam()});
  EXPECT_EQ(two.out, "all\n") << two.err;
  EXPECT_EQ(one.finish().out, "all\n");
}

INSTANTIATE_TEST_SUITE_P(As, Lesson, testing::ValuesIn(identities()),
                         [](const auto& given) { return std::string(name_of(given.param)); });

}  // namespace
}  // namespace cloche::test
