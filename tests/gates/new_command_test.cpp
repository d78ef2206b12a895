// `cloche new` from the outside.
#include <gtest/gtest.h>

#include "harness/harness.hpp"

namespace cloche::test {
namespace {

class NewCommand : public testing::Test {
 protected:
  Ran make(std::vector<std::string> words) {
    words.insert(words.begin(), {cloche(), "new"});
    return run({.argv = words, .cwd = scene.workspace()});
  }
  fs::path at(const std::string& path) { return fs::path(scene.workspace()) / path; }
  Scene scene{As::self};
};

TEST_F(NewCommand, WritesWhatItSays) {
  struct Row {
    const char* kind;
    std::vector<std::string> files;
  };
  for (const Row& row :
       {Row{"skill", {"a/SKILL.md", "a/test.sh"}},
        Row{"executor", {"b/manifest.json", "b/tool.py", "b/test.sh"}}, Row{"rule", {"c.json"}}}) {
    const std::string name = row.files[0].substr(0, 1);
    const Ran ran = make({row.kind, name});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    for (const auto& file : row.files) {
      EXPECT_TRUE(fs::exists(at(file))) << file;
      EXPECT_NE(ran.out.find("wrote ./" + file + "\n"), std::string::npos) << ran.out;
    }
  }
  EXPECT_EQ(run({.argv = {"sh", "-n", at("a/test.sh").string()}}).exit_code, 0);
  EXPECT_EQ(run({.argv = {"sh", "-n", at("b/test.sh").string()}}).exit_code, 0);
}

TEST_F(NewCommand, TheExecutorAnswersUnderTheGlass) {
  ASSERT_EQ(make({"executor", "words"}).exit_code, 0);
  const Ran ran = run({.argv = {cloche(), "run", "--", "words/tool.py"},
                       .cwd = scene.workspace(),
                       .input = R"({"text": "three short words"})"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out, R"({"words": 3})");
}

TEST_F(NewCommand, TheRuleHoldsItsExamples) {
  ASSERT_EQ(make({"rule", "mine", "--dir", "."}).exit_code, 0);
  const Ran ran = run({.argv = {cloche(), "test", "mine.json"}, .cwd = scene.workspace()});
  EXPECT_EQ(ran.exit_code, 0) << ran.out;
  EXPECT_NE(ran.out.find("4 examples in 1 files: all hold"), std::string::npos) << ran.out;
}

TEST_F(NewCommand, NothingIsOverwritten) {
  fs::create_directory(at("a"));
  EXPECT_EQ(make({"skill", "a"}).exit_code, 125);
  EXPECT_EQ(make({"executor", "a"}).exit_code, 125);
  EXPECT_TRUE(fs::is_empty(at("a")));
  scene.write("workspace/r.json", "mine");
  const Ran ran = make({"rule", "r"});
  EXPECT_EQ(ran.exit_code, 125);
  EXPECT_EQ(ran.err, "cloche: ./r.json exists already, and nothing is overwritten; choose another name\n");
  EXPECT_EQ(read_file(at("r.json")), "mine");
  // A link that leads nowhere yet would be written through.
  fs::create_symlink(at("elsewhere"), at("l.json"));
  EXPECT_EQ(make({"rule", "l"}).exit_code, 125);
  EXPECT_FALSE(fs::exists(at("elsewhere")));
  EXPECT_EQ(make({"rule", "x", "--dir", "new/folder"}).exit_code, 0);
  EXPECT_TRUE(fs::exists(at("new/folder/x.json")));
}

TEST_F(NewCommand, WordsThatAreNoCommand) {
  using Words = std::vector<std::string>;
  for (const Words& words :
       {Words{}, Words{"skill"}, Words{"skill", "a", "b"}, Words{"tool", "a"}, Words{"skill", "A"},
        Words{"skill", "a_b"}, Words{"skill", "../a"}, Words{"executor", "run_shell"}, Words{"skill", ""},
        Words{"skill", "a", "--dir"}, Words{"skill", "a", "--force"}})
    EXPECT_EQ(make(words).exit_code, 2) << words.size();
  EXPECT_EQ(make({"--help"}).exit_code, 0);
  EXPECT_NE(make({"--help"}).out.find("Examples:\n"), std::string::npos);
}

}  // namespace
}  // namespace cloche::test
