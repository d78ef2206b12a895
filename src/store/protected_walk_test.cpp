// What a command leaves behind, and what of it the look finds. Each row is a tree, what is done to it between
// the two looks, and what must be taken away.
#include "store/protected_walk.hpp"

#include <sys/stat.h>

#include "base/directory.hpp"
#include "store/protected_walk_fixture.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

constexpr const char* evil_config = "[core]\n\tfsmonitor = ./x\n";

// Deeper than the look before goes.
std::string deep() {
  std::string path;
  for (int i = 0; i < 60; ++i) path += "d/";
  return path;
}

const WalkRow rows[] = {
    {"nothing", [](Tree& t) { t.write("a"); }, [](Tree& t) { t.write("b"); }, {}},
    {"a new file", {}, [](Tree& t) { t.write(".envrc"); }, {".envrc"}},
    {"a new one below", {}, [](Tree& t) { t.write("a/b/.mcp.json"); }, {"a/b/.mcp.json"}},
    {"in other letters", {}, [](Tree& t) { t.write(".EnvRC"); }, {".EnvRC"}},
    {"a directory as a whole", {}, [](Tree& t) { t.write(".vscode/tasks.json"); }, {".vscode"}},
    {"a link", {}, [](Tree& t) { t.link("elsewhere", ".claude"); }, {".claude"}},
    {"a link on the way",
     {},
     [](Tree& t) {
       t.write("c/git/config");
       t.link("c", ".config");
     },
     {".config"}},
    {"a directory on the way", {}, [](Tree& t) { t.write(".config/git/config"); }, {".config/git"}},
    {"a directory renamed to its name",
     [](Tree& t) { t.write("x/tasks.json"); },
     [](Tree& t) { t.move("x", ".vscode"); },
     {".vscode"}},
    {"a way renamed to its name",
     [](Tree& t) { t.write("x/git/config"); },
     [](Tree& t) { t.move("x", ".config"); },
     {".config/git"}},
    {"a file renamed to its name",
     [](Tree& t) { t.write("x"); },
     [](Tree& t) { t.move("x", ".envrc"); },
     {".envrc"}},
    {"a second name for a file",
     [](Tree& t) { t.write("x"); },
     [](Tree& t) { t.hard_link("x", ".envrc"); },
     {".envrc"}},
    {"written through its second name",
     [](Tree& t) {
       t.write(".envrc");
       t.hard_link(".envrc", "x");
     },
     [](Tree& t) { t.write("x", "evil\n"); },
     {".envrc"}},
    {"an old one stays", [](Tree& t) { t.write(deep() + ".envrc"); }, [](Tree& t) { t.write("b"); }, {}},
    {"a deep one that changed",
     [](Tree& t) { t.write(deep() + ".envrc"); },
     [](Tree& t) { t.write(deep() + ".envrc", "evil\n"); },
     {deep() + ".envrc"}},
    {"its time set back",
     {},
     [](Tree& t) {
       t.write(".envrc");
       fs::last_write_time(t.at(".envrc"), fs::file_time_type::min());
       fs::last_write_time(t.at(""), fs::file_time_type::min());
     },
     {".envrc"}},
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
       fs::remove(t.at(".git/config"));
       t.link("../x", ".git/config");
     },
     {".git/config"}},
    {"with a link for its hooks",
     {},
     [](Tree& t) {
       t.repository(".git");
       fs::remove_all(t.at(".git/hooks"));
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
    {"in a directory that was there",
     [](Tree& t) { t.write("a/.vscode/settings.json"); },
     [](Tree& t) { t.write("a/.vscode/tasks.json"); },
     {"a/.vscode/tasks.json"}},
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
    {"in a closed directory",
     {},
     [](Tree& t) {
       t.write("a/.envrc");
       ::chmod(t.at("a").c_str(), 0);
     },
     {"a/.envrc"}},
};

TEST(ProtectedWalk, WhatACommandLeaves) {
  for (const auto& row : rows) expect_suspects(row);
  for (const size_t depth : {1U, 2U, 3U}) {
    for (const auto& row : rows) expect_suspects(row, {.depth = depth});
  }
}

// The same with what an earlier look remembers of the tree: nothing is found less for it, and nothing more.
TEST(ProtectedWalk, WhatACommandLeavesInARememberedTree) {
  for (const auto& row : rows) expect_suspects_in_remembered_tree(row);
}

struct MemoryRow {
  const char* what;
  std::function<void(Tree&)> command;
  std::vector<std::string> suspects;
};

// In a tree of q/w/e/r/t with a file in each, and o/p with an old .npmrc in p; nothing else of the set.
const MemoryRow memory_rows[] = {
    {"nothing", [](Tree&) {}, {}},
    {"in a quiet directory", [](Tree& t) { t.write("q/w/e/.envrc"); }, {"q/w/e/.envrc"}},
    {"in the deepest", [](Tree& t) { t.write("q/w/e/r/t/.ENVRC"); }, {"q/w/e/r/t/.ENVRC"}},
    {"in a new one deep down", [](Tree& t) { t.write("q/w/e/n/m/.envrc"); }, {"q/w/e/n/m/.envrc"}},
    {"a name by a second link", [](Tree& t) { t.hard_link("q/file", "q/w/.envrc"); }, {"q/w/.envrc"}},
    {"an old file that has such a name now",
     [](Tree& t) { t.move("q/w/file", "q/w/.envrc"); },
     {"q/w/.envrc"}},
    {"a quiet directory that is a member now",
     [](Tree& t) { t.move("q/w/e", "q/w/.vscode"); },
     {"q/w/.vscode"}},
    {"a quiet one on the way to a member",
     [](Tree& t) {
       t.move("q/w/e", "q/w/git");
       t.move("q/w", "q/.config");
     },
     {"q/.config/git"}},
    {"a quiet one that was moved away",
     [](Tree& t) {
       t.move("q/w", "z");
       t.write("z/e/.envrc");
     },
     {"z/e/.envrc"}},
    {"moved away and back",
     [](Tree& t) {
       t.move("q/w", "z");
       t.write("z/e/.envrc");
       t.move("z", "q/w");
     },
     {"q/w/e/.envrc"}},
    {"another in its place",
     [](Tree& t) {
       t.write("n/.envrc");
       t.exchange("n", "q/w");
     },
     {"q/w/.envrc"}},
    {"exchanged below",
     [](Tree& t) {
       t.write("n/.vscode/tasks.json");
       t.exchange("n/.vscode", "q/w/e");
     },
     {"n/.vscode"}},
    {"a file in the place of a directory, and the directory under its name",
     [](Tree& t) { t.exchange("q/w/file", "q/w/e"); },
     {}},
    {"a repository",
     [](Tree& t) {
       t.repository("q/w/e/bare");
       t.write("q/w/e/bare/hooks/pre-commit");
     },
     {"q/w/e/bare/hooks/pre-commit"}},
    {"a quiet one that becomes a repository",
     [](Tree& t) {
       t.make("q/w/e/objects");
       t.make("q/w/e/refs");
       t.write("q/w/e/config", evil_config);
     },
     {"q/w/e/config"}},
    {"its time of modification set back",
     [](Tree& t) {
       const auto then = fs::last_write_time(t.at("q/w/e"));
       t.write("q/w/e/.envrc");
       fs::last_write_time(t.at("q/w/e"), then);
     },
     {"q/w/e/.envrc"}},
    {"an old member, changed in its place", [](Tree& t) { t.write("o/p/.npmrc", "y\n"); }, {"o/p/.npmrc"}},
    {"made and removed again",
     [](Tree& t) {
       t.write("q/w/.envrc");
       fs::remove(t.at("q/w/.envrc"));
     },
     {}},
    {"a link in the place of a quiet one",
     [](Tree& t) {
       t.write("n/e/.envrc");
       t.move("q/w", "old");
       t.link("../n", "q/w");
     },
     {"n/e/.envrc"}},
    {"a closed directory",
     [](Tree& t) {
       t.write("q/w/e/.envrc");
       ::chmod(t.at("q/w/e").c_str(), 0);
       ::chmod(t.at("q/w").c_str(), 0);
     },
     {"q/w/e/.envrc"}},
};

TEST(ProtectedWalk, WhatIsRememberedHidesNothing) {
  for (const auto& row : memory_rows) {
    Tree tree;
    tree.write("q/w/e/r/t/file");
    for (const char* file : {"q/file", "q/w/file", "q/w/e/file", "q/w/e/r/file", "o/p/.npmrc"})
      tree.write(file);
    Tree::let_the_clock_tick();
    const LookAfter earlier = tree.after({}, change_time_now(), {.fewest_remembered = 1});
    const ChangeTime since = change_time_now();
    row.command(tree);
    const LookAfter found = tree.after({}, since, {.fewest_remembered = 1}, earlier.memory);
    EXPECT_EQ(paths_of(found), row.suspects) << row.what;
    // And what this one remembers hides nothing from the next, which comes in the same tick.
    EXPECT_EQ(paths_of(tree.after({}, since, {}, found.memory)), row.suspects) << row.what;
    for (const char* closed : {"q/w", "q/w/e"}) ::chmod(tree.at(closed).c_str(), 0700);
  }
}

TEST(ProtectedWalk, WhatChangedJustNowIsNotRemembered) {
  for (int i = 0; i < 50; ++i) {
    Tree tree;
    tree.write("q/w/file");
    const ChangeTime since = change_time_now();
    const LookAfter earlier = tree.after({}, since, {.fewest_remembered = 1});
    tree.write("q/w/.envrc");  // mostly in the same tick
    EXPECT_EQ(paths_of(tree.after({}, since, {}, earlier.memory)), std::vector<std::string>{"q/w/.envrc"});
  }
}

TEST(ProtectedWalk, AQuietTreeIsNotReadAgain) {
  Tree tree;
  for (int i = 0; i < 100; ++i) tree.write("q/" + std::to_string(i) + "/file");
  Tree::let_the_clock_tick();
  const LookAfter earlier = tree.after({}, change_time_now());
  // Only the names of the root are counted: nothing else is read.
  const LookAfter found = tree.after({}, change_time_now(), {.names = 1}, earlier.memory);
  EXPECT_EQ(found.gap, "");
  EXPECT_EQ(found.memory, earlier.memory);
  EXPECT_NE(tree.after({}, change_time_now(), {.names = 1}).gap, "");
}

TEST(ProtectedWalk, WhatIsShownReadOnly) {
  Tree tree;
  tree.repository(".git");
  tree.repository(".git/modules/lib");
  tree.repository("below/.git");
  for (const char* name : {".envrc", ".vscode/a", ".config/git/config", "below/.envrc", "src/a"})
    tree.write(name);
  tree.link("src", ".claude");
  std::vector<std::string> kept;
  for (const auto& fact : tree.before()) {
    if (fact.kept) kept.push_back(fact.file.path.substr(tree.root().size() + 1));
  }
  std::sort(kept.begin(), kept.end());
  const std::vector<std::string> wanted = {".config/git",
                                           ".envrc",
                                           ".git/config",
                                           ".git/hooks",
                                           ".git/modules/lib/config",
                                           ".git/modules/lib/hooks",
                                           ".vscode",
                                           "src"};
  EXPECT_EQ(kept, wanted);
}

TEST(ProtectedWalk, ABareRepositoryAsTheRoot) {
  Tree tree;
  tree.repository(".");
  std::vector<std::string> kept;
  for (const auto& fact : tree.before()) {
    if (fact.kept) kept.push_back(fact.file.path.substr(tree.root().size() + 1));
  }
  std::sort(kept.begin(), kept.end());
  EXPECT_EQ(kept, (std::vector<std::string>{"config", "hooks"}));
}

TEST(ProtectedWalk, NoMoreThanSomeAreMounted) {
  Tree tree;
  for (int i = 0; i < 300; ++i) tree.write(std::to_string(i) + ".code-workspace");
  Tree::let_the_clock_tick();
  const auto known = tree.before();
  EXPECT_EQ(std::count_if(known.begin(), known.end(), [](const ProtectedFact& fact) { return fact.kept; }),
            64);
  const ChangeTime since = change_time_now();
  EXPECT_EQ(paths_of(tree.after(known, since)), std::vector<std::string>{});
}

// What the host changes meanwhile at a place that was a mount point to the command is not the command's.
TEST(ProtectedWalk, WhatTheHostChangesMeanwhileStays) {
  Tree tree;
  tree.repository(".git");
  tree.write(".envrc");
  Tree::let_the_clock_tick();
  const auto known = tree.before();
  const ChangeTime since = change_time_now();
  for (const char* name : {".envrc", ".git/config"}) {
    tree.write("new", evil_config);
    tree.move("new", name);
  }
  tree.write(".git/hooks/pre-commit");
  EXPECT_EQ(paths_of(tree.after(known, since)), std::vector<std::string>{});
}

TEST(ProtectedWalk, ABoundThatIsMetIsSaid) {
  Tree tree;
  tree.write(".envrc");
  for (int i = 0; i < 50; ++i) tree.write("a/b/c/" + std::to_string(i));
  const ChangeTime never{};
  EXPECT_EQ(tree.after({}, never).gap, "");
  EXPECT_EQ(tree.after({}, never, {.depth = 2}).gap, "");
  EXPECT_NE(tree.after({}, never, {.depth = 2, .set_aside_bytes = 10}).gap, "");
  EXPECT_NE(tree.after({}, never, {.names = 10}).gap, "");
  EXPECT_NE(tree.after({}, never, {.milliseconds = 0}).gap, "");
  EXPECT_EQ(paths_of(tree.after({}, never, {.depth = 2})), std::vector<std::string>{".envrc"});
}

// A path that no single call to the kernel can name.
TEST(ProtectedWalk, ThereIsNoDepthToHideIn) {
  Tree tree;
  const std::string name(100, 'd');
  std::string path;
  OwnedFd at = std::move(sys::open(tree.root(), O_RDONLY | O_DIRECTORY)).value();
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), name.c_str(), 0755), 0);
    at = std::move(sys::open_at(at.get(), name, O_RDONLY | O_DIRECTORY)).value();
    path += name + "/";
  }
  ASSERT_TRUE(sys::open_at(at.get(), ".envrc", O_WRONLY | O_CREAT, 0644).ok());
  ASSERT_EQ(::mkdirat(at.get(), ".vscode", 0755), 0);
  const LookAfter first = tree.after({}, ChangeTime{});
  EXPECT_EQ(first.gap, "");
  EXPECT_EQ(paths_of(first), (std::vector<std::string>{path + ".envrc", path + ".vscode"}));
  Tree::let_the_clock_tick();
  const LookAfter quiet = tree.after({}, change_time_now());
  EXPECT_EQ(paths_of(quiet), std::vector<std::string>{});
  const ChangeTime since = change_time_now();
  ASSERT_TRUE(sys::open_at(at.get(), ".mcp.json", O_WRONLY | O_CREAT, 0644).ok());
  EXPECT_EQ(paths_of(tree.after({}, since, {}, quiet.memory)), std::vector<std::string>{path + ".mcp.json"});
  remove_tree(tree.at(name));
  EXPECT_FALSE(fs::exists(tree.at(name)));
}

TEST(ProtectedWalk, ADirectoryOfThousands) {
  Tree tree;
  for (int i = 0; i < 3000; ++i) tree.write("many/" + std::to_string(i));
  tree.write("many/.envrc");
  EXPECT_EQ(paths_of(tree.after({}, ChangeTime{})), std::vector<std::string>{"many/.envrc"});
}

}  // namespace
}  // namespace cloche
