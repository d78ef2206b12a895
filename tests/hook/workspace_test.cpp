// Which workspace a hook's call has: what the operator or the client fixed, and never what the model can
// choose.
#include "hook/fixture.hpp"

namespace cloche::test {
namespace {

class HookWorkspace : public Hook {
 protected:
  void SetUp() override {
    scene().write("sibling/keep.txt", "mine\n");
    scene().write("home/.aws/credentials", "secret\n");
    file("py/calc.py", "x = 1\n");
  }
  fs::path sibling() const { return scene_root() / "sibling"; }

  // The call with another JSON cwd: with Codex that is the model's `workdir`.
  std::string standing_in(const fs::path& directory, std::string call) const {
    const std::string here = quoted(workspace());
    return call.replace(call.find(here), here.size(), quoted(directory));
  }
  std::string codex(const std::string& command, const fs::path& directory) const {
    return standing_in(directory,
                       call_with(R"("turn_id": "1", )", "Bash", R"({"command": )" + quoted(command) + "}"));
  }
  std::string claude(const std::string& command, const fs::path& directory) const {
    return standing_in(directory, call_of("Bash", R"({"command": )" + quoted(command) + "}"));
  }
  std::string in_session(const std::string& name, std::string call) const {
    return call.replace(call.find("s-1"), 3, name);
  }
};

TEST_P(HookWorkspace, AWorkdirOfTheModelsChoosesNothing) {
  for (const auto& directory : {sibling(), home(), home() / ".aws", scene_root(), fs::path("/")}) {
    const HookSaid said = said_to(codex("rm -f keep.txt; cat credentials", directory));
    EXPECT_EQ(said.decision, "deny") << directory;
    EXPECT_TRUE(contains(said.reason, "outside the project")) << said.reason;
  }
  EXPECT_EQ(read_file(sibling() / "keep.txt"), "mine\n");
}

TEST_P(HookWorkspace, AWorkdirWithinSeesTheWholeProject) {
  const HookSaid said = said_to(codex("pwd; cat ../py/calc.py; echo top > ../made", workspace() / "py"));
  EXPECT_EQ(said.decision, "allow") << said.reason;
  EXPECT_EQ(carry_out(said.command).out, (workspace() / "py").string() + "\nx = 1\n");
  EXPECT_EQ(read_file(workspace() / "made"), "top\n");
}

TEST_P(HookWorkspace, TheHooksOwnDirectoryIsNotClaudesProject) {
  const Command gone_elsewhere{.cwd = sibling().string()};
  const HookSaid said = said_to(claude("echo made > made", workspace()), gone_elsewhere);
  EXPECT_TRUE(exited(carry_out(said.command), 0));
  EXPECT_TRUE(fs::exists(workspace() / "made"));
  EXPECT_FALSE(fs::exists(sibling() / "made"));
}

TEST_P(HookWorkspace, WithoutAProjectClaudeIsRefused) {
  for (const char* nothing : {"", ".", "relative"}) {
    const Command given{.env = {{"CLAUDE_PROJECT_DIR", nothing}}};
    EXPECT_TRUE(refused(hook_bytes(claude("true", workspace()), {}, given), {2}, {"which project"}))
        << nothing;
  }
}

TEST_P(HookWorkspace, ACallThatLooksLikeBothAgentsIsRefused) {
  const Command given{.env = {{"CLAUDE_PROJECT_DIR", workspace()}}};
  EXPECT_TRUE(refused(hook_bytes(codex("true", workspace()), {}, given), {2}, {"CLAUDE_PROJECT_DIR"}));
}

TEST_P(HookWorkspace, TheFirstCallOfASessionFixesIt) {
  EXPECT_EQ(said_to(claude("true", workspace())).decision, "allow");
  const Command elsewhere{.env = {{"CLAUDE_PROJECT_DIR", sibling()}}};
  EXPECT_TRUE(refused(hook_bytes(claude("true", sibling()), {}, elsewhere), {2}, {"this session works in"}));
  EXPECT_EQ(said_to(in_session("s-2", claude("true", sibling())), elsewhere).decision, "allow");

  EXPECT_EQ(said_to(codex("true", workspace())).decision, "allow") << "another agent's session of that name";
  const Command from_sibling{.cwd = sibling().string()};
  EXPECT_TRUE(
      refused(hook_bytes(codex("true", sibling()), {}, from_sibling), {2}, {"this session works in"}));
}

TEST_P(HookWorkspace, AFileOfASiblingIsRefusedToTheFileToolsToo) {
  const HookSaid said = said_to(standing_in(
      sibling(), call_with(R"("turn_id": "1", )", "apply_patch",
                           R"({"command": "*** Begin Patch\n*** Delete File: keep.txt\n*** End Patch"})")));
  EXPECT_EQ(said.decision, "deny");
}

// Another call can turn the directory of a workspace within its own into a link to one above both.
TEST_P(HookWorkspace, AnotherDirectoryInItsPlaceIsNotTheOneThatWasJudged) {
  file("secret.txt", "above\n");
  const Command inner{.env = {{"CLAUDE_PROJECT_DIR", workspace() / "py"}}};
  const std::string call = in_session("s-2", claude("cat secret.txt; echo made > made", workspace() / "py"));
  for (const char* swap : {"mv py old && ln -s . py", "mv py old && mkdir py"}) {
    const HookSaid said = said_to(call, inner);
    EXPECT_EQ(said.decision, "allow") << said.reason;
    EXPECT_TRUE(exited(outside(swap), 0));
    const Ran ran = carry_out(said.command);
    EXPECT_TRUE(refused(ran, {125}, {"another one than the call was judged for"})) << swap;
    EXPECT_FALSE(contains(ran.out, "above"));
    EXPECT_TRUE(exited(outside("rm -rf py && mv old py"), 0));
  }
  EXPECT_FALSE(fs::exists(workspace() / "made"));
  EXPECT_TRUE(exited(carry_out(said_to(call, inner).command), 0)) << "the control";
}

// To the agent it is the agent's own directory, which is not the judge's.
TEST_P(HookWorkspace, APathThroughProcMeansSomethingElseToTheAgent) {
  EXPECT_TRUE(
      exited(outside("ln -s /proc/self/cwd here; ln -s /proc/self/root/ root; ln -s /dev/fd fds"), 0));
  for (const char* path : {"/proc/self/cwd/new.txt", "/proc/thread-self/cwd/py/calc.py", "here/new.txt",
                           "here/py/calc.py", "root/etc/hostname", "fds/0"}) {
    const HookSaid said = hook("Write", R"({"content": "x", "file_path": )" + quoted(path) + "}");
    EXPECT_EQ(said.decision, "deny") << path;
  }
  EXPECT_EQ(hook("Write", R"({"content": "x", "file_path": "py/new.txt"})").decision, "") << "the control";
}

FOR_EVERYONE(HookWorkspace);

}  // namespace
}  // namespace cloche::test
