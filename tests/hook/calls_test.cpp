// A Bash command of an agent: kept here, run once in the sandbox, byte for byte what was judged.
#include <vector>

#include "hook/fixture.hpp"

namespace cloche::test {
namespace {

class HookCalls : public Hook {};

TEST_P(HookCalls, ACommandRunsUnderTheGlassInItsPlace) {
  const Ran ran = agent_runs("pwd; echo out; echo err >&2; hostname; exit 7");
  EXPECT_TRUE(exited(ran, 7));
  EXPECT_EQ(ran.out, workspace().string() + "\nout\ncloche\n");
  EXPECT_TRUE(contains(ran.err, "err\n"));
  EXPECT_TRUE(exited(agent_runs("echo kept > made.txt"), 0));
  EXPECT_EQ(read_file(workspace() / "made.txt"), "kept\n");
}

TEST_P(HookCalls, OtherArgumentsStayAsTheyWere) {
  const auto said = bash("true");
  const auto json = parse_json(said.ran.out);
  ASSERT_TRUE(json);
  const Json& input = (*json)["hookSpecificOutput"]["updatedInput"];
  EXPECT_EQ(input.object.size(), 3U);
  EXPECT_EQ(input["description"].string, "d");
  EXPECT_EQ(input["timeout"].number, 1000);
}

TEST_P(HookCalls, NothingOfACommandIsReadOnTheWay) {
  const std::pair<std::string, std::string> rows[] = {
      {"printf '%s' \"a'b\"", "a'b"},
      {"printf '%s\\n' one\nprintf '%s' two", "one\ntwo"},
      {"printf '%s' '$(id) `id` ; | & > < * ~ # \\'", "$(id) `id` ; | & > < * ~ # \\"},
      {"cat <<'X'\n'\"$y\nX", "'\"$y\n"},
      {"printf '%s' 'gr\xc3\xbc\xc3\x9f \xf0\x9f\x94\x94'", "gr\xc3\xbc\xc3\x9f \xf0\x9f\x94\x94"},
      {"-n() { printf ok; }; -n", "ok"},
      {": '" + std::string(64 << 10, 'x') + "'\nprintf long", "long"},
      {"exit 3 # --call --help\n", ""},
  };
  for (const auto& [command, output] : rows)
    EXPECT_EQ(agent_runs(command).out, output) << command.substr(0, 60);
}

TEST_P(HookCalls, ANulIsRefused) {
  const auto said = hook("Bash", R"({"command": "echo a\u0000b"})");
  EXPECT_EQ(said.decision, "deny");
  EXPECT_TRUE(contains(said.reason, "NUL")) << said.reason;
}

TEST_P(HookCalls, AnIdIsGoodOnce) {
  const std::string line = bash("echo ran >> count").command;
  EXPECT_TRUE(exited(carry_out(line), 0));
  EXPECT_TRUE(refused(carry_out(line), {125}, {"was started already"}));
  EXPECT_EQ(read_file(workspace() / "count"), "ran\n");
}

TEST_P(HookCalls, ACopyPutBackIsRefused) {
  const std::string line = bash("echo ran >> count").command;
  const std::string kept = (state() / "calls" / call_id(line)).string();
  EXPECT_TRUE(exited(outside("cp -p " + kept + " copy"), 0));
  EXPECT_TRUE(exited(carry_out(line), 0));
  EXPECT_TRUE(exited(outside("cp -p copy " + kept), 0));
  EXPECT_TRUE(refused(carry_out(line), {125}, {"was started already"}));
  EXPECT_EQ(read_file(workspace() / "count"), "ran\n");
}

TEST_P(HookCalls, OfManyAtOnceOneRuns) {
  const std::string line = bash("echo ran >> count").command;
  EXPECT_TRUE(exited(carry_out("for i in 1 2 3 4 5 6 7 8; do " + line + " 2>/dev/null & done; wait"), 0));
  EXPECT_EQ(read_file(workspace() / "count"), "ran\n");
}

TEST_P(HookCalls, AGuessIsRefused) {
  (void)bash("true");
  for (const char* id : {"aaaaaaaaaaaaaaaaaaaaaaaaaa", "x", "../calls/x", ".key", "", "-"})
    EXPECT_NE(carry_out(cloche() + " run --call '" + id + "'").exit_code, 0) << id;
  EXPECT_TRUE(refused(carry_out(cloche() + " run --call aaaaaaaaaaaaaaaaaaaaaaaaaa -- id"), {2},
                      {"takes no other flag"}));
  EXPECT_TRUE(refused(carry_out(cloche() + " run --rw / --call aaaaaaaaaaaaaaaaaaaaaaaaaa"), {2},
                      {"takes no other flag"}));
}

TEST_P(HookCalls, WhatWasChangedOnTheShelfIsRefused) {
  const std::string line = bash("echo judged > ran").command;
  const std::string id = call_id(line);
  EXPECT_TRUE(exited(outside("sed -i s/judged/forged/ " + (state() / "calls" / id).string()), 0));
  EXPECT_TRUE(refused(carry_out(line), {125}, {"not as Cloche wrote it"}));
  EXPECT_FALSE(fs::exists(workspace() / "ran"));
}

// The state is absent in the sandbox, so that what a command knows of ids is worth nothing there.
TEST_P(HookCalls, FromUnderTheGlassNoIdIsOfUse) {
  const std::string line = bash("echo ran > ran").command;
  EXPECT_NE(agent_runs(line).exit_code, 0);
  EXPECT_FALSE(fs::exists(workspace() / "ran"));
  EXPECT_TRUE(exited(carry_out(line), 0)) << "the control";
}

TEST_P(HookCalls, CallsOfOneSessionShareAHome) {
  EXPECT_TRUE(exited(agent_runs("echo one > ~/note; echo two > /tmp/note"), 0));
  EXPECT_EQ(agent_runs("cat ~/note /tmp/note").out, "one\ntwo\n");
}

TEST_P(HookCalls, WhoeverWantsAPlanHasNothingChanged) {
  std::string planning = call_of("Bash", R"({"command": "ls > made; pwd"})");
  const HookSaid said = said_to(planning.replace(planning.find("default"), 7, "plan"));
  const Ran ran = carry_out(said.command);
  EXPECT_EQ(ran.out, workspace().string() + "\n");
  EXPECT_FALSE(fs::exists(workspace() / "made"));
}

TEST_P(HookCalls, ItStartsWhereTheHookSaidWhereverTheAgentsShellStands) {
  EXPECT_TRUE(exited(outside("mkdir sub"), 0));
  EXPECT_EQ(carry_out("cd sub && " + bash("pwd").command).out, workspace().string() + "\n");
  EXPECT_EQ(carry_out("cd / && " + bash("pwd").command).out, workspace().string() + "\n");
}

TEST_P(HookCalls, TheRunIsRecorded) {
  EXPECT_TRUE(exited(agent_runs("echo a | cat"), 0));
  const Ran log = cloche_in_state({"log", "show", "last"});
  EXPECT_TRUE(contains(log.out, "run_script")) << log.out;
  EXPECT_TRUE(contains(log.out, "echo a | cat")) << log.out;
  EXPECT_TRUE(exited(cloche_in_state({"log", "verify", "last"}), 0));
}

FOR_EVERYONE(HookCalls);

}  // namespace
}  // namespace cloche::test
