// What an agent's environment can do to the hook and to the calls that it keeps: a repository's settings can
// set variables of the agent, so it must be nothing.
#include "hook/fixture.hpp"

namespace cloche::test {
namespace {

class HookEnvironment : public Hook {
 protected:
  // Everything is allowed there, isolation too may be off, and a library that is not there would be loaded.
  Command evil() {
    const std::string folder = (scene_root() / "evil").string();
    scene().write("evil/.config/cloche/config.json", R"({"allow_sandbox_off": true})");
    scene().write("evil/cloche/config.json", R"({"allow_sandbox_off": true})");
    return {.env = {{"HOME", folder},
                    {"XDG_CONFIG_HOME", folder},
                    {"LD_PRELOAD", "/nonexistent/evil.so"},
                    {"GLIBC_TUNABLES", "glibc.malloc.check=3"},
                    {"TMPDIR", workspace()},
                    {"CLOCHE_SANDBOX", "off"}}};
  }
};
FOR_EVERYONE(HookEnvironment);

TEST_P(HookEnvironment, MovesNoRule) {
  rules(
      R"({"default": "allow", "rules": [{"tool": "Bash", "args": {"command": "touch"}, "action": "deny"}]})");
  const HookSaid said = hook("Bash", R"({"command": "touch made"})", evil());
  EXPECT_EQ(said.decision, "deny") << said.reason;
  EXPECT_FALSE(contains(said.ran.err, "evil.so")) << said.ran.err;
}

TEST_P(HookEnvironment, MovesNoCallThatWasKept) {
  const HookSaid said = hook("Bash", R"({"command": "grep Seccomp: /proc/self/status; touch made"})", evil());
  ASSERT_EQ(said.decision, "allow") << said.reason;
  EXPECT_TRUE(is_call_line(said.command));
  Command shell = words({}, evil());
  shell.env.erase("LD_PRELOAD");  // of the agent's shell itself
  shell.env["XDG_STATE_HOME"] = (scene_root() / "evil").string();
  shell.argv = {"sh", "-c", "LD_PRELOAD=/nonexistent/evil.so " + said.command};
  const Ran ran = run(shell);
  EXPECT_TRUE(printed(ran, "Seccomp:\t2\n")) << ran.err;
  EXPECT_FALSE(contains(ran.err, "evil.so")) << ran.err;
  EXPECT_TRUE(fs::exists(workspace() / "made"));
  EXPECT_FALSE(fs::exists(scene_root() / "evil/cloche/runs"));
}

// What the operator's own variables say at --install is in the line, and --uninstall finds it without them.
TEST_P(HookEnvironment, PlacesAreInTheInstalledLine) {
  const std::string config = (scene_root() / "an odd place").string();
  const Command odd{.env = {{"XDG_CONFIG_HOME", config}}};
  scene().write(
      "an odd place/cloche/config.json",
      R"({"permissions": {"default": "allow", "rules": [{"tool": "Bash", "args": {"command": "touch"}, "action": "deny"}]}})");
  ASSERT_TRUE(exited(cloche_words({"hook", "--install", "claude", "--yes"}, odd), 0));
  const auto json = parse_json(read_file(home() / ".claude/settings.json"));
  ASSERT_TRUE(json);
  const std::string line = (*json)["hooks"]["PreToolUse"].array.at(0)["hooks"].array.at(0)["command"].string;
  EXPECT_TRUE(contains(line, "--config-home '" + config + "'")) << line;
  Command shell = words({}, evil());
  shell.env.erase("LD_PRELOAD");
  shell.env["CLAUDE_PROJECT_DIR"] = workspace();
  shell.argv = {"sh", "-c", line};
  shell.input = call_of("Bash", R"({"command": "touch made"})");
  const Ran denied = run(shell);
  EXPECT_TRUE(exited(denied, 0) && contains(denied.out, R"("permissionDecision":"deny")"))
      << denied.out << denied.err;
  shell.input = call_of("Bash", R"({"command": "true"})");
  const Ran allowed = run(shell);
  EXPECT_TRUE(contains(allowed.out, "--config-home '" + config + "'"))
      << "the kept call knows it: " << allowed.out;
  ASSERT_TRUE(exited(cloche_words({"hook", "--uninstall", "claude", "--yes"}), 0)) << "without the variable";
  EXPECT_FALSE(fs::exists(home() / ".claude/settings.json"));
}

TEST_P(HookEnvironment, FlagsOfPlacesAreForTheLineAlone) {
  EXPECT_TRUE(refused(cloche_words({"run", "--home", home(), "--", "true"}), {2}, {"for --call"}));
  EXPECT_TRUE(refused(cloche_words({"run", "--call", "x", "--timeout", "1s"}), {2}, {"takes no other flag"}));
  EXPECT_TRUE(
      refused(cloche_words({"hook", "--install", "claude", "--home", "/x", "--yes"}), {2}, {"--install"}));
  for (const char* place : {"relative", "/../x"})
    EXPECT_EQ(hook_bytes(call_of("Bash", R"({"command": "true"})"), {"--config-home", place}).exit_code, 2);
}

}  // namespace
}  // namespace cloche::test
