// A `cd` of one Bash call of Claude Code lasts until the next, as it does without Cloche.
#include <thread>

#include "hook/fixture.hpp"

namespace cloche::test {
namespace {

class HookDirectory : public Hook {
 protected:
  void SetUp() override {
    file("py/a/x.txt", "x\n");
    file("c/main.c", "\n");
  }
  std::string at(const std::string& below) const {
    return (below.empty() ? workspace() : workspace() / below).string() + "\n";
  }
  std::string here() const { return agent_runs("pwd").out; }
  HookSaid in_background(const std::string& command) const {
    return hook("Bash", R"({"command": )" + quoted(command) + R"(, "run_in_background": true})");
  }
  std::string of_subagent(const std::string& command) const {
    return call_with(R"("agent_id": "sub-1", )", "Bash", R"({"command": )" + quoted(command) + "}");
  }
};

TEST_P(HookDirectory, ItLasts) {
  EXPECT_EQ(agent_runs("cd py").out, "");
  EXPECT_EQ(agent_runs("pwd; cd a").out, at("py"));
  EXPECT_EQ(agent_runs("cat x.txt; cd -P ../../c && exit 0").out, "x\n");
  EXPECT_EQ(here(), at("c"));
}

TEST_P(HookDirectory, ACommandThatFailsDoesNotMoveIt) {
  EXPECT_TRUE(exited(agent_runs("cd py; false"), 1));
  EXPECT_TRUE(exited(agent_runs("cd py; exit 3"), 3));
  EXPECT_TRUE(exited(agent_runs("cd py; if then"), 2));
  EXPECT_EQ(here(), at(""));
}

TEST_P(HookDirectory, OneInTheBackgroundDoesNotMoveIt) {
  EXPECT_TRUE(exited(carry_out(in_background("cd py").command), 0));
  EXPECT_EQ(here(), at(""));
  EXPECT_TRUE(exited(agent_runs("cd c"), 0));
  EXPECT_EQ(carry_out(in_background("pwd").command).out, at("c")) << "but it starts there";
}

TEST_P(HookDirectory, OfTwoAtOnceNoneMovesIt) {
  const std::string slow = bash("cd py; sleep 4").command;
  const std::string quick = bash("cd c").command;
  Ran first;
  std::thread other([&] { first = carry_out(slow + " & echo started; wait"); });
  EXPECT_TRUE(exited(carry_out("sleep 1; " + quick), 0));
  other.join();
  EXPECT_TRUE(exited(first, 0));
  EXPECT_EQ(here(), at(""));
  EXPECT_TRUE(exited(agent_runs("cd py"), 0));
  EXPECT_EQ(here(), at("py")) << "one alone does";
}

TEST_P(HookDirectory, ASubagentMovesItsOwnAlone) {
  const std::string slow = bash("trap 'true' EXIT; sleep 4").command;
  Ran first;
  std::thread other([&] { first = carry_out(slow); });
  EXPECT_TRUE(exited(carry_out("sleep 1; " + said_to(of_subagent("cd py")).command), 0));
  other.join();
  EXPECT_TRUE(exited(first, 0));
  EXPECT_EQ(here(), at(""));
}

TEST_P(HookDirectory, ASubagentHasItsOwn) {
  EXPECT_TRUE(exited(carry_out(said_to(of_subagent("cd py")).command), 0));
  EXPECT_EQ(here(), at(""));
  EXPECT_EQ(carry_out(said_to(of_subagent("pwd")).command).out, at("py"));
}

TEST_P(HookDirectory, GoneMeansTheTop) {
  EXPECT_TRUE(exited(agent_runs("mkdir -p py/gone && cd py/gone"), 0));
  EXPECT_TRUE(exited(outside("rmdir py/gone"), 0));
  const Ran ran = agent_runs("pwd");
  EXPECT_EQ(ran.out, at(""));
  EXPECT_TRUE(contains(ran.err, "py/gone is gone; the command starts in")) << ran.err;
}

// What was judged in one directory is not run in another: `rm -rf ./*` is harmless in a build directory
// alone.
TEST_P(HookDirectory, GoneBetweenTheHookAndTheStartRunsNothing) {
  EXPECT_TRUE(exited(agent_runs("mkdir -p py/gone && cd py/gone"), 0));
  const std::string command = bash("rm -rf ./*").command;
  EXPECT_TRUE(exited(outside("rmdir py/gone"), 0));
  EXPECT_TRUE(refused(carry_out(command), {125}, {"is gone since the call was judged"}));
  EXPECT_TRUE(fs::exists(workspace() / "c/main.c"));
  EXPECT_EQ(here(), at("")) << "the next call starts at the top";
}

TEST_P(HookDirectory, ALinkInItsPlaceIsNotFollowed) {
  EXPECT_TRUE(exited(agent_runs("mkdir -p py/gone && cd py/gone"), 0));
  EXPECT_TRUE(exited(outside("rmdir py/gone && ln -s ../c py/gone"), 0));
  EXPECT_EQ(here(), at(""));
}

TEST_P(HookDirectory, WhatACommandWritesForItIsJudged) {
  const std::string forge = "trap - EXIT; printf '%s\\n' ";
  const std::string there = " > \"$TMPDIR/.cloche-end-directory\"";
  for (const char* bad : {"/etc", "/", "..", "py", "''", "/proc/self/cwd"})
    EXPECT_TRUE(exited(agent_runs(forge + bad + there), 0));
  EXPECT_TRUE(exited(agent_runs("trap - EXIT; printf '%s/py\\0x\\n' \"$PWD\"" + there), 0)) << "a NUL";
  EXPECT_EQ(here(), at(""));
  EXPECT_TRUE(exited(agent_runs("trap - EXIT; ln -s /etc/passwd \"$TMPDIR/.cloche-end-directory\""), 0));
  EXPECT_EQ(here(), at(""));
  EXPECT_TRUE(exited(agent_runs("trap - EXIT; mkfifo \"$TMPDIR/.cloche-end-directory\""), 0));
  EXPECT_EQ(here(), at(""));
  EXPECT_TRUE(exited(agent_runs(forge + (workspace() / "py").string() + there), 0));
  EXPECT_EQ(here(), at("py")) << "the control";
}

TEST_P(HookDirectory, WhereTheClientHasGoneSinceCountsMore) {
  EXPECT_TRUE(exited(agent_runs("cd py"), 0));
  std::string moved = call_of("Bash", R"({"command": "pwd"})");
  moved.replace(moved.find(quoted(workspace())), quoted(workspace()).size(), quoted(workspace() / "c"));
  EXPECT_EQ(carry_out(said_to(moved).command).out, at("c"));
}

TEST_P(HookDirectory, RulesSeeIt) {
  rules(R"({"default": "allow", "rules": [{"tool": "Bash", "args": {"cwd": "^py"}, "action": "deny"}]})");
  EXPECT_EQ(bash("true").decision, "allow");
  EXPECT_TRUE(exited(agent_runs("cd py"), 0));
  EXPECT_EQ(bash("true").decision, "deny");
  EXPECT_EQ(hook("Bash", R"({"command": "true", "cwd": "c"})").decision, "deny") << "the model's own word";
}

TEST_P(HookDirectory, RulesAboutOurToolsSeeItToo) {
  for (const char* rule : {R"("run_script", "args": {"code": "^true", "cwd": "^py$"})",
                           R"("run_shell", "args": {"cmd": "^true", "cwd": "^py$"})"}) {
    rules(R"({"default": "allow", "rules": [{"tool": )" + std::string(rule) + R"(, "action": "deny"}]})");
    EXPECT_TRUE(exited(agent_runs("cd " + workspace().string()), 0));
    EXPECT_EQ(bash("true").decision, "allow") << rule;
    EXPECT_TRUE(exited(agent_runs("cd py"), 0));
    EXPECT_EQ(bash("true").decision, "deny") << rule;
  }
}

TEST_P(HookDirectory, AnApprovedCommandStartsWhereItWasApproved) {
  rules(
      R"({"default": "allow", "rules": [{"tool": "Bash", "args": {"command": "^echo asked"}, "action": "ask"}]})");
  EXPECT_TRUE(exited(agent_runs("mkdir -p py/gone && cd py/gone"), 0));
  const std::string call = call_of("Bash", R"({"command": "echo asked; pwd"})");
  const auto reply = parse_json(in_terminal_program(call));
  ASSERT_TRUE(reply);
  const std::string command = (*reply)["hookSpecificOutput"]["updatedInput"]["command"].string;
  EXPECT_TRUE(exited(outside("rmdir py/gone"), 0));
  EXPECT_TRUE(refused(carry_out(command), {125}, {"is gone since the call was judged"}));
}

FOR_EVERYONE(HookDirectory);

}  // namespace
}  // namespace cloche::test
