// Whatever goes wrong is exit 2 with a sentence: an agent takes everything else for a yes.
#include <signal.h>

#include <fstream>
#include <thread>

#include "everyday/conversation.hpp"
#include "hook/fixture.hpp"

namespace cloche::test {
namespace {

class HookFailures : public Hook {
 protected:
  std::string good() const { return call_of("Bash", R"({"command": "true"})"); }
  Command hook_command() const { return words(judge_words({})); }

  // The hook by a shell, with this before and after it.
  Ran by_shell(const std::string& before, const std::string& after, const std::string& program) const {
    Command shell = words({}, {.env = {{"CLAUDE_PROJECT_DIR", workspace()}}});
    shell.input = good();
    std::string line = before + " " + program;
    for (const auto& word : judge_words({})) line += " " + word;
    shell.argv = {"sh", "-c", line + " " + after};
    return run(shell);
  }
};

::testing::AssertionResult is_a_no(const Ran& ran) {
  if (ran.exit_code == 2 && ran.err.size() > 10 && ran.out.empty()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << ran.exit_code << " signal " << ran.signal << "\nout: " << ran.out.substr(0, 300)
         << "\nerr: " << ran.err.substr(0, 300);
}

// The judge that a hook has started; it waits for input.
int judge_of(int front) {
  for (int i = 0; i < 200; ++i) {
    int judge = 0;
    std::ifstream("/proc/" + std::to_string(front) + "/task/" + std::to_string(front) + "/children") >> judge;
    std::string words;  // those of the front until it has executed
    std::getline(std::ifstream("/proc/" + std::to_string(judge) + "/cmdline") >> std::ws, words);
    if (judge > 0 && contains(words, "hook-judge")) return judge;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return 0;
}

TEST_P(HookFailures, AJudgeThatIsKilled) {
  for (const int number : {SIGKILL, SIGSEGV, SIGABRT, SIGTERM, SIGBUS}) {
    Conversation hook(hook_command(), Over::pipes);
    const int judge = judge_of(hook.pid());
    ASSERT_GT(judge, 1);
    ASSERT_EQ(::kill(judge, number), 0);
    const Ran ran = hook.finish();
    EXPECT_TRUE(is_a_no(ran));
    EXPECT_TRUE(contains(ran.err, "signal " + std::to_string(number))) << ran.err;
  }
}

TEST_P(HookFailures, AFrontThatIsToldToEnd) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    Conversation hook(hook_command(), Over::pipes);
    ASSERT_GT(judge_of(hook.pid()), 1);
    ASSERT_EQ(::kill(hook.pid(), number), 0);
    EXPECT_TRUE(is_a_no(hook.finish()));
  }
}

TEST_P(HookFailures, InputThatNeverEnds) {
  Command command = hook_command();
  command.argv.insert(command.argv.end(), {"--timeout", "1s"});
  Conversation hook(command, Over::pipes);
  hook.send(good());
  const Ran ran = hook.finish();
  EXPECT_TRUE(is_a_no(ran));
  EXPECT_TRUE(contains(ran.err, "in time")) << ran.err;
}

TEST_P(HookFailures, AJudgeThatIsStopped) {
  Command command = hook_command();
  command.argv.insert(command.argv.end(), {"--timeout", "2s"});
  Conversation hook(command, Over::pipes);
  const int judge = judge_of(hook.pid());
  ASSERT_GT(judge, 1);
  ASSERT_EQ(::kill(judge, SIGSTOP), 0);
  EXPECT_TRUE(is_a_no(hook.finish()));
}

TEST_P(HookFailures, InputOfEveryKind) {
  const std::string nested = std::string(10'000, '[') + std::string(10'000, ']');
  const std::string rows[] = {
      "",
      "\n",
      "null",
      "[]",
      "{}",
      "not json",
      good().substr(0, good().size() / 2),
      good() + good(),
      nested,
      call_of("Bash", R"({"command": )" + nested + "}"),
      call_of("Bash", R"({"command": "\xff\xfe"})"),
      call_of("Bash", "{\"command\": \"a" + std::string("\0", 1) + "b\"}"),
      call_of("Bash", R"({"command": 1e99999999999999999999})"),
      call_of("Bash", R"([])"),
      std::string("\0\0\0", 3),
      std::string("\xef\xbb\xbf") + "{}",
      call_with(R"("cwd": "/", )", "Bash", R"({"command": "true"})"),
  };
  for (const auto& bytes : rows) EXPECT_TRUE(is_a_no(hook_bytes(bytes))) << bytes.substr(0, 100);
}

TEST_P(HookFailures, AHundredMegabytes) {
  Command shell = words({});
  shell.argv = {
      "sh", "-c",
      "{ printf '{\"tool_input\": \"'; head -c 100000000 /dev/zero | tr '\\0' x; printf '\"}'; } | " +
          cloche() + " hook"};
  const Ran ran = run(shell);
  EXPECT_TRUE(is_a_no(ran));
  EXPECT_TRUE(contains(ran.err, "longer than 8 MiB")) << ran.err;
}

TEST_P(HookFailures, NowhereToSayIt) {
  EXPECT_TRUE(is_a_no(by_shell("", ">&-", cloche())));
  EXPECT_TRUE(is_a_no(by_shell("", "> /dev/full", cloche())));
  EXPECT_EQ(by_shell("", "> /dev/full 2>&-", cloche()).exit_code, 2);
  EXPECT_TRUE(is_a_no(by_shell("", "<&-", cloche())));
}

TEST_P(HookFailures, NoMemoryAndNoProcesses) {
  // As it is installed, with less than the program needs to start as well; in between, the judge alone has
  // too little.
  for (const int kib :
       {500, 4000, 6000, 7000, 8000, 8500, 9000, 9500, 10'000, 10'500, 11'000, 12'000, 16'000}) {
    const Ran ran = by_shell("ulimit -v " + std::to_string(kib) + ";", "|| exit 2", cloche());
    const bool answered = ran.exit_code == 0 && contains(ran.out, "run --call");
    EXPECT_TRUE(answered || ran.exit_code == 2) << kib << " " << ran.exit_code << ran.out;
  }
  EXPECT_TRUE(is_a_no(by_shell("ulimit -n 3;", "", cloche())));
  EXPECT_TRUE(is_a_no(by_shell("ulimit -f 0; ulimit -t 1;", "", cloche())));
}

TEST_P(HookFailures, WithoutItsOtherParts) {
  const std::string alone = (scene_root() / "alone").string();
  EXPECT_TRUE(exited(outside("mkdir " + alone + " && cp " + cloche() + " " + alone), 0));
  // It judges, and finds that nothing could run there.
  const Ran ran = by_shell("", "", alone + "/cloche");
  EXPECT_TRUE(refused(ran, {2}, {"No such file or directory", "the call is refused"}));
  // Of what the shell says when the program is gone, only the code counts.
  EXPECT_EQ(by_shell("", "|| exit 2", alone + "/gone").exit_code, 2);
}

TEST_P(HookFailures, ConfigurationThatCannotBeTaken) {
  rules("[]");
  EXPECT_TRUE(is_a_no(hook_bytes(good())));
  scene().write("home/.config/cloche/config.json", "{");
  EXPECT_TRUE(is_a_no(hook_bytes(good())));
  scene().write("home/.config/cloche/config.json", "{}");
  EXPECT_TRUE(exited(hook_bytes(good()), 0)) << "the control";
}

// Nothing would be started for it, and the agent would take the answer for a yes.
TEST_P(HookFailures, AProfileThatCannotBeEnforcedHere) {
  const fs::path profiles = workspace().parent_path() / "profiles";
  const auto high = [&](const char* text) { scene().write("profiles/high.json", text); };
  scene().write("home/.config/cloche/config.json",
                R"({"default_profile": "high", "profiles_dir": ")" + profiles.string() + R"("})");
  const std::string write =
      call_of("Write", R"({"content": "x", "file_path": ")" + (workspace() / "new.txt").string() + R"("})");
  high(R"({"extends": "workspace-write-no-network", "ro": ["/nowhere/at/all"]})");
  const Ran ran = hook_bytes(write);
  EXPECT_TRUE(is_a_no(ran));
  EXPECT_NE(ran.err.find("the profile high cannot be had here"), std::string::npos) << ran.err;
  EXPECT_EQ(ran.err.find("/nowhere/at/all"), std::string::npos) << "a model reads it: " << ran.err;
  high(R"({"extends": "workspace-write-no-network"})");
  EXPECT_TRUE(exited(hook_bytes(write), 0)) << "the control";
}

TEST_P(HookFailures, AStateThatCannotBeTrusted) {
  EXPECT_TRUE(exited(hook_bytes(good()), 0)) << "the control";
  EXPECT_TRUE(exited(outside("chmod 777 " + (state() / "calls").string()), 0));
  EXPECT_TRUE(is_a_no(hook_bytes(good())));
}

// Not even for root, who has another place for what is kept in somebody's home.
TEST_P(HookFailures, AStateThatCannotBe) {
  for (const char* state : {"/dev/null/x", "/etc/passwd"}) {
    const Ran ran = hook_bytes(good(), {}, {.env = {{"XDG_STATE_HOME", state}}});
    EXPECT_TRUE(is_a_no(ran)) << state;
  }
}

TEST_P(HookFailures, WordsThatMakeNoSense) {
  const Words rows[] = {
      {"--nonsense"},      {"claude"},         {"--yes"},     {"--workspace"},
      {"--timeout", "1h"}, {"--timeout", "x"}, {"--timeout"}, {"--workspace", "/not/there"}};
  for (const auto& flags : rows) EXPECT_TRUE(is_a_no(hook_bytes(good(), flags))) << flags[0];
  const Ran elsewhere = hook_bytes(good(), {"--workspace", "/etc"});
  EXPECT_TRUE(contains(elsewhere.out, R"("permissionDecision":"deny")")) << elsewhere.out;
}

// As Codex and Claude Code do it: no new privileges, and a view of their own in which the state is read-only.
TEST_P(HookFailures, InsideTheAgentsOwnSandboxTheCommandSaysSo) {
  const std::string line = bash("echo ran > made").command;
  const std::string parent = state().parent_path().string();
  for (const std::string& view :
       {"--ro-bind " + parent + " " + parent, "--tmpfs " + parent + " --remount-ro " + parent}) {
    const Ran ran = carry_out("bwrap --dev-bind / / " + view + " -- " + line);
    EXPECT_TRUE(refused(ran, {125}, {"inside another sandbox", "Only the user can change it"})) << view;
  }
  EXPECT_FALSE(fs::exists(workspace() / "made"));
  EXPECT_TRUE(exited(carry_out(line), 0)) << "the control";
  const Ran spent = carry_out("setpriv --no-new-privs " + line);
  EXPECT_TRUE(refused(spent, {125}, {"was started already"}));
  EXPECT_FALSE(contains(spent.err, "another sandbox")) << spent.err;
}

FOR_EVERYONE(HookFailures);

}  // namespace
}  // namespace cloche::test
