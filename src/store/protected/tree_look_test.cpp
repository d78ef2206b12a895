// Files that nobody would take for something that is executed, by their names.
#include "store/protected/tree_look.hpp"

#include "store/protected/protected_walk_fixture.hpp"

namespace cloche {
namespace {

TEST(WhyExecuted, ByWhatLeadsThereAndByWhatIsAround) {
  Tree tree;
  tree.repository(".git");
  tree.write(".git/config",
             "[core]\n\thooksPath = hk\n\tfsmonitor = tools/watch\n[include]\n\tpath = ../conf/shared\n");
  tree.write("hk/pre-commit");
  tree.link("../../scripts/push", ".git/hooks/pre-push");
  tree.write("scripts/push");
  tree.make(".claude");
  tree.link("../rules", ".claude/rules");
  tree.link("..", ".claude/all");
  tree.make("rules");
  tree.repository("bare");
  tree.make(".vscode");
  tree.link("../editor/tasks.json", ".vscode/tasks.json");
  tree.link("envs/dev", ".envrc");
  tree.make("half/objects");
  tree.write("work/HEAD");
  const struct {
    const char* path;
    const char* reason;  // empty: none
  } rows[] = {
      {"hk/pre-commit", "run hooks from there"},
      {"hk/new", "run hooks from there"},
      {"tools/watch", "run this program"},
      {"tools/watch/x", "run this program"},
      {"conf/shared", "includes it"},
      {"scripts/push", "a link in a protected directory"},
      {"rules/new/rule", "a link in a protected directory"},
      {"editor/tasks.json", "a link in a protected directory"},
      {"envs/dev", "a link in a protected directory"},
      {"bare/config", "in a git directory"},
      {"bare/hooks/post-receive", "in a git directory"},
      {"bare/CONFIG", "in a git directory"},
      {"bare/config.worktree", "in a git directory"},
      {"half/refs/x", "in a git directory"},
      {"work/commondir", "in a git directory"},
      {"bare/checkout/file", ""},
      {"half/config", ""},
      {"scripts/pull", ""},
      {"tools/other", ""},
      {"hk2/pre-commit", ""},
      {"src/config", ""},
      {"objects/of/mine", ""},
  };
  for (const auto& row : rows) {
    const std::string none;
    const auto why = why_executed(tree.root(), row.path, {none, {}, tree.git});
    ASSERT_TRUE(why.ok()) << row.path;
    EXPECT_EQ(why.value().empty(), std::string(row.reason).empty()) << row.path << ": " << why.value();
    EXPECT_NE(why.value().find(row.reason), std::string::npos) << row.path << ": " << why.value();
  }
}

// The look before does not come that far.
TEST(WhyExecuted, InADeepRepositoryToo) {
  Tree tree;
  for (int i = 0; i < 100; ++i) tree.make("many/" + std::to_string(i));
  tree.repository("many/99/.git");
  tree.write("many/99/.git/config", "[core]\n\thooksPath = hk\n");
  const std::string none;
  const auto why = why_executed(tree.root(), "many/99/hk/pre-commit", {none, {}, tree.git});
  ASSERT_TRUE(why.ok());
  EXPECT_NE(why.value(), "");
}

}  // namespace
}  // namespace cloche
