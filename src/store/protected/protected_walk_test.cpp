// What a command leaves behind, and what of it the look finds. Each row is a tree, what is done to it between
// the two looks, and what must be taken away.
#include "store/protected/protected_walk.hpp"

#include <sys/stat.h>

#include "base/sys/directory.hpp"
#include "store/protected/protected_walk_fixture.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

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
    {"in a directory that was there",
     [](Tree& t) { t.write("a/.vscode/settings.json"); },
     [](Tree& t) { t.write("a/.vscode/tasks.json"); },
     {"a/.vscode/tasks.json"}},
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

TEST(ProtectedWalk, WhatIsShownReadOnly) {
  Tree tree;
  tree.repository(".git");
  tree.repository(".git/modules/lib");
  tree.repository("below/.git");
  for (const char* name : {".envrc", ".vscode/a", ".config/git/config", "below/.envrc", "src/a"})
    tree.write(name);
  tree.link("src", ".claude");
  std::vector<std::string> kept;
  for (const auto& fact : tree.before().files) {
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
  for (const auto& fact : tree.before().files) {
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
  EXPECT_EQ(std::count_if(known.files.begin(), known.files.end(),
                          [](const ProtectedFact& fact) { return fact.kept; }),
            64);
  const ChangeTime since = change_time_now();
  EXPECT_EQ(paths_of(tree.after(known, since)), std::vector<std::string>{});
}

// What the host changes meanwhile in what was a mount to the command is not the command's.
TEST(ProtectedWalk, WhatTheHostChangesMeanwhileStays) {
  Tree tree;
  tree.repository(".git");
  tree.write(".envrc");
  Tree::let_the_clock_tick();
  const auto known = tree.before();
  const ChangeTime since = change_time_now();
  for (const char* name : {".envrc", ".git/config"}) tree.write(name, evil_config);
  tree.write(".git/hooks/pre-commit");
  EXPECT_EQ(paths_of(tree.after(known, since)), std::vector<std::string>{});
}

// But another file in its place has no mount on it, and the command could write to that.
TEST(ProtectedWalk, WhatTheHostReplacesMeanwhileIsJudged) {
  Tree tree;
  for (const char* name : {".git", "a/.git", "b/.git"}) tree.repository(name);
  const std::string own = "[core]\n\thooksPath = .husky\n[alias]\n\tx = !x \\\n y\n";
  for (const char* name : {".git/config", "a/.git/config", "b/.git/config"}) tree.write(name, own);
  for (const char* name : {".envrc", ".git/hooks/pre-push"}) tree.write(name);
  Tree::let_the_clock_tick();
  const auto known = tree.before();
  const ChangeTime since = change_time_now();
  const auto replace = [&](const std::string& name, const std::string& text) {
    tree.write("new", text);
    tree.move("new", name);
  };
  // As git does for `git config` and for a branch that follows another.
  replace(".git/config", own + "[user]\n\tname = me\n");
  replace("a/.git/config", "[branch \"x\"]\n\tremote = origin\n" + own);
  EXPECT_EQ(paths_of(tree.after(known, since)), std::vector<std::string>{});
  replace(".envrc", "evil\n");
  replace(".git/config", own + evil_config);
  replace("a/.git/config", "[core]\n\thooksPath = elsewhere\n");
  replace("b/.git/config", "[alias]\n\tx = !x \\\n z\n");
  tree.move(".git/hooks", "old");
  tree.write(".git/hooks/pre-push", "evil\n");
  const std::vector<std::string> all = {".envrc", ".git/config", ".git/hooks/pre-push", "a/.git/config",
                                        "b/.git/config"};
  EXPECT_EQ(paths_of(tree.after(known, since)), all);
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
