// What a command leaves in repositories, and what of it the look finds.
#include "store/protected/protected_walk_fixture.hpp"

namespace cloche {
namespace {

const WalkRow rows[] = {
    {"a new repository", {}, [](Tree& t) { t.repository("sub/.git"); }, {}},
    {"with a hook",
     {},
     [](Tree& t) {
       t.repository(".git");
       t.write(".git/hooks/pre-push");
     },
     {".git/hooks/pre-push"}},
    {"with a configuration that runs something",
     {},
     [](Tree& t) {
       t.repository(".git");
       t.write(".git/config", evil_config);
     },
     {".git/config"}},
    {"with a link for a configuration",
     {},
     [](Tree& t) {
       t.repository(".git");
       std::filesystem::remove(t.at(".git/config"));
       t.link("../x", ".git/config");
     },
     {".git/config"}},
    {"with a link for its hooks",
     {},
     [](Tree& t) {
       t.repository(".git");
       std::filesystem::remove_all(t.at(".git/hooks"));
       t.link("../x", ".git/hooks");
     },
     {".git/hooks"}},
    {"a sample that is a link",
     {},
     [](Tree& t) {
       t.repository(".git");
       t.link("../x", ".git/hooks/a.sample");
     },
     {".git/hooks/a.sample"}},
    {"a .git without the rest",
     {},
     [](Tree& t) { t.write(".GIT/Hooks/pre-commit"); },
     {".GIT/Hooks/pre-commit"}},
    {"attributes of a repository",
     {},
     [](Tree& t) { t.write(".git/info/attributes"); },
     {".git/info/attributes"}},
    {"attributes by a rename around them",
     [](Tree& t) {
       t.repository(".git");
       t.write("x/attributes");
     },
     [](Tree& t) { t.move("x", ".git/info"); },
     {".git/info/attributes"}},
    {"a worktree's by a rename around it",
     [](Tree& t) {
       t.repository(".git");
       t.write("x/config.worktree", evil_config);
     },
     [](Tree& t) {
       t.make(".git/worktrees");
       t.move("x", ".git/worktrees/w");
     },
     {".git/worktrees/w/config.worktree"}},
    {"a bare repository",
     {},
     [](Tree& t) {
       t.repository("b.git");
       t.write("b.git/config", evil_config);
     },
     {"b.git/config"}},
    {"a submodule's",
     {},
     [](Tree& t) {
       t.repository(".git/modules/a/b");
       t.write(".git/modules/a/b/hooks/x");
     },
     {".git/modules/a/b/hooks/x"}},
    {"a worktree's",
     {},
     [](Tree& t) { t.write(".git/worktrees/w/config.worktree", evil_config); },
     {".git/worktrees/w/config.worktree"}},
    {"a branch called config",
     {},
     [](Tree& t) {
       t.repository(".git");
       t.write(".git/refs/heads/config", "0\n");
     },
     {}},
    {"what became a repository by a rename",
     [](Tree& t) {
       t.write("x/config", evil_config);
       t.write("x/hooks/pre-commit");
     },
     [](Tree& t) { t.move("x", ".git"); },
     {".git/config", ".git/hooks/pre-commit"}},
    {"what became one by what was added",
     [](Tree& t) { t.write("x/config", evil_config); },
     [](Tree& t) {
       t.make("x/objects");
       t.make("x/refs");
       t.write("x/HEAD", "ref: refs/heads/main\n");
     },
     {"x/config"}},
    {"a repository moved away and another in its place",
     [](Tree& t) { t.repository(".git"); },
     [](Tree& t) {
       t.move(".git", "g");
       t.write(".git/config", evil_config);
     },
     {".git/config"}},
    {"the hooks of a repository below, and not the old ones",
     [](Tree& t) {
       t.repository("a/.git");
       t.write("a/.git/hooks/pre-commit");
     },
     [](Tree& t) {
       t.write("a/.git/hooks/post-commit");
       t.write("a/.git/index");
     },
     {"a/.git/hooks/post-commit"}},
    {"the old configuration of one below is nobody's business",
     [](Tree& t) {
       t.repository("a/.git");
       t.write("a/.git/config", evil_config);
     },
     [](Tree& t) { t.write("a/.git/index"); },
     {}},
    {"among git's objects",
     [](Tree& t) {
       t.repository(".git");
       t.write(".git/objects/ab/x");
     },
     [](Tree& t) {
       t.write(".git/objects/ab/.envrc");
       t.write(".git/objects/cd/e/.envrc");
     },
     {".git/objects/ab/.envrc", ".git/objects/cd/e/.envrc"}},
    {"a rebase that stopped",
     [](Tree& t) { t.repository("w/.git"); },
     [](Tree& t) { t.write("w/.git/rebase-merge/git-rebase-todo", "pick 1 a\n# exec x\n"); },
     {}},
    {"a rebase with commands",
     [](Tree& t) { t.repository("w/.git"); },
     [](Tree& t) { t.write("w/.git/rebase-merge/git-rebase-todo", "pick 1 a\nexec ./x\n"); },
     {"w/.git/rebase-merge/git-rebase-todo"}},
    {"a rebase with commands, prepared elsewhere",
     [](Tree& t) {
       t.repository("w/.git");
       t.write("r/git-rebase-todo", "x ./x\n");
     },
     [](Tree& t) { t.move("r", "w/.git/rebase-merge"); },
     {"w/.git/rebase-merge/git-rebase-todo"}},
    {"a rebase of a worktree's",
     [](Tree& t) {
       t.repository("w/.git");
       t.write("w/.git/worktrees/n/HEAD");
     },
     [](Tree& t) { t.write("w/.git/worktrees/n/rebase-merge/git-rebase-todo", "x ./x\n"); },
     {"w/.git/worktrees/n/rebase-merge/git-rebase-todo"}},
    {"a rebase that is a link",
     [](Tree& t) {
       t.repository("w/.git");
       t.write("r/git-rebase-todo", "x ./x\n");
     },
     [](Tree& t) { t.link("../../r", "w/.git/rebase-merge"); },
     {"w/.git/rebase-merge"}},
    {"a strategy that is a path",
     [](Tree& t) { t.repository("w/.git"); },
     [](Tree& t) { t.write("w/.git/rebase-merge/strategy", "x/y\n"); },
     {"w/.git/rebase-merge/strategy"}},
    {"a strategy that is none",
     [](Tree& t) { t.repository("w/.git"); },
     [](Tree& t) {
       t.write("w/.git/rebase-merge/strategy", "ort\n");
       t.write("w/.git/sequencer/opts", "[options]\n\tmainline = 1\n");
     },
     {}},
    {"a strategy of a cherry-pick",
     [](Tree& t) { t.repository("w/.git"); },
     [](Tree& t) { t.write("w/.git/sequencer/opts", "[options]\n\tstrategy = x/y\n"); },
     {"w/.git/sequencer/opts"}},
    {"a strategy of a worktree's",
     [](Tree& t) {
       t.repository("w/.git");
       t.write("w/.git/worktrees/n/HEAD");
     },
     [](Tree& t) { t.write("w/.git/worktrees/n/sequencer/opts", "[options]\n\tstrategy = x/y\n"); },
     {"w/.git/worktrees/n/sequencer/opts"}},
    {"remotes as git once wrote them",
     [](Tree& t) { t.repository("w/.git"); },
     [](Tree& t) {
       t.make("w/.git/refs/remotes/origin");
       t.write("w/.git/remotes/origin", "URL: ext::sh -c x\n");
       t.write("w/.git/branches/x.sample", "ext::sh -c x\n");
     },
     {"w/.git/branches/x.sample", "w/.git/remotes/origin"}},
    {"more in the place of hooks",
     [](Tree& t) {
       t.repository("w/.git");
       t.write("w/.git/config", "[core]\n\thooksPath = h\n");
       t.write("w/h/pre-push");
     },
     [](Tree& t) { t.write("w/h/pre-commit"); },
     {"w/h/pre-commit"}},
    {"another in the place of hooks",
     [](Tree& t) {
       t.repository("w/.git");
       t.write("w/.git/config", "[core]\n\thooksPath = h\n");
       t.write("w/h/pre-push");
       t.write("w/prepared/pre-commit");
     },
     [](Tree& t) {
       t.move("w/h", "w/old");
       t.move("w/prepared", "w/h");
     },
     {"w/h"}},
};

TEST(ProtectedRepositories, WhatACommandLeaves) {
  for (const auto& row : rows) expect_suspects(row);
  for (const size_t depth : {1U, 2U, 3U}) {
    for (const auto& row : rows) expect_suspects(row, {.depth = depth});
  }
}

// However many directories a command has made before: they are nothing that its repository waits behind.
TEST(ProtectedRepositories, WhatIsAtTheTopIsKeptBesideAnyNumberOfDirectories) {
  Tree tree;
  for (int i = 0; i < 600; ++i) tree.make("d" + std::to_string(i) + "/below");
  tree.repository(".git");
  tree.write(".config/fish/config.fish");
  std::vector<std::string> kept;
  for (const auto& fact : tree.before().files) {
    if (fact.kept) kept.push_back(fact.file.path.substr(tree.root().size() + 1));
  }
  std::sort(kept.begin(), kept.end());
  EXPECT_EQ(kept, (std::vector<std::string>{".config/fish", ".git/config", ".git/hooks"}));
}

// The same with what an earlier look remembers of the tree: nothing is found less for it, and nothing more.
TEST(ProtectedRepositories, WhatACommandLeavesInARememberedTree) {
  for (const auto& row : rows) expect_suspects_in_remembered_tree(row);
}

}  // namespace
}  // namespace cloche
