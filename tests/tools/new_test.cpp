// What `cloche new` writes works as it stands, and so does the test that it writes beside it.
#include "tools/fixture.hpp"

namespace cloche::test {
namespace {

class New : public Tools {
 protected:
  // With `cloche` on the path, as a user has it; the new thing lies outside of the workspace, as an
  // operator's.
  Ran beside_the_workspace(const std::string& command) const {
    Command how = words({}, {.cwd = (scene_root() / "new").string()});
    how.argv = {"sh", "-c", command};
    how.env["PATH"] = std::string(CLOCHE_TEST_BIN_DIR) + ":/usr/bin:/bin";
    return run(how);
  }
  New() { scene().write("new/.keep", ""); }
};

TEST_P(New, ASkillPassesItsTest) {
  ASSERT_TRUE(exited(beside_the_workspace("cloche new skill changelog"), 0));
  EXPECT_TRUE(printed(beside_the_workspace("sh changelog/test.sh"), "changelog: ok\n"));
}

TEST_P(New, AnExecutorPassesItsTest) {
  ASSERT_TRUE(exited(beside_the_workspace("cloche new executor word-count"), 0));
  EXPECT_TRUE(printed(beside_the_workspace("sh word-count/test.sh"), "word-count: ok\n"));
}

// Where an operator has their tools: named in the configuration, and the working directory.
TEST_P(New, AnExecutorPassesItsTestInTheDirectoryOfExecutors) {
  scene().write("home/.config/cloche/config.json",
                R"({"executors_dir": ")" + (scene_root() / "new").string() + R"("})");
  ASSERT_TRUE(exited(beside_the_workspace("cloche new executor word-count"), 0));
  EXPECT_TRUE(printed(beside_the_workspace("sh word-count/test.sh"), "word-count: ok\n"));
  EXPECT_TRUE(printed(beside_the_workspace("cd word-count && sh test.sh"), "word-count: ok\n"));
  EXPECT_TRUE(ended(call({"word-count", R"({"text": "a b"})"}), "exited")) << "as a session finds it";
}

TEST_P(New, ARulePassesItsTestAndAsks) {
  ASSERT_TRUE(exited(beside_the_workspace("cloche new rule ask-first"), 0));
  EXPECT_TRUE(exited(beside_the_workspace("cloche test ask-first.json"), 0));
  scene().write("home/.config/cloche/config.json", read_file(scene_root() / "new/ask-first.json"));
  const Call asked = {"run_shell", R"({"cmd": "npm install left-pad", "profile": "full"})"};
  EXPECT_TRUE(refused_by(call(asked), "approval"));
  EXPECT_TRUE(ended(call({"run_shell", R"({"cmd": "ls"})"}), "exited")) << "what the rule is not about";
}

FOR_EVERYONE(New);

}  // namespace
}  // namespace cloche::test
