// What is executed because a link leads to it.
#include "base/sys/directory.hpp"
#include "store/protected/protected_walk_fixture.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

// In `w`, so that nothing of it is read-only meanwhile.
void hook_by_link(Tree& t) {
  t.repository("w/.git");
  t.write("w/scripts/pre-commit");
  t.link("../../scripts/pre-commit", "w/.git/hooks/pre-commit");
}

const WalkRow rows[] = {
    {"a hook is changed where it lies",
     hook_by_link,
     [](Tree& t) { t.write("w/scripts/pre-commit", "evil"); },
     {"w/scripts/pre-commit"}},
    {"another file has its name",
     hook_by_link,
     [](Tree& t) {
       t.write("w/new", "evil");
       t.move("w/new", "w/scripts/pre-commit");
     },
     {"w/scripts/pre-commit"}},
    {"what lies beside it is ordinary", hook_by_link, [](Tree& t) { t.write("w/scripts/other"); }, {}},
    {"an older file comes with its directory",
     [](Tree& t) {
       hook_by_link(t);
       t.write("w/prepared/pre-commit", "evil");
     },
     [](Tree& t) {
       t.move("w/scripts", "w/old");
       t.move("w/prepared", "w/scripts");
     },
     {"w/scripts/pre-commit"}},
    {"and so it does two directories up",
     [](Tree& t) {
       t.repository("w/.git");
       t.write("w/a/b/pre-commit");
       t.write("w/c/b/pre-commit", "evil");
       t.link("../../a/b/pre-commit", "w/.git/hooks/pre-commit");
     },
     [](Tree& t) { t.exchange("w/a", "w/c"); },
     {"w/a/b/pre-commit"}},
    {"a checkout is moved with all that is in it", hook_by_link, [](Tree& t) { t.move("w", "moved"); }, {}},
    {"the end is gone", hook_by_link, [](Tree& t) { fs::remove(t.at("w/scripts/pre-commit")); }, {}},
    {"nothing was at the end",
     [](Tree& t) {
       t.repository("w/.git");
       t.link("../../scripts/pre-commit", "w/.git/hooks/pre-commit");
     },
     [](Tree& t) { t.write("w/scripts/pre-commit", "evil"); },
     {"w/scripts/pre-commit"}},
    {"nothing was at the end, of a link in what is read-only",
     [](Tree& t) {
       t.repository(".git");
       t.link("../../scripts/pre-commit", ".git/hooks/pre-commit");
     },
     [](Tree& t) { t.write("scripts/pre-commit", "evil"); },
     {"scripts/pre-commit"}},
    {"nothing was at the end, and an older file comes",
     [](Tree& t) {
       t.repository(".git");
       t.link("../../scripts/pre-commit", ".git/hooks/pre-commit");
       t.write("prepared/pre-commit", "evil");
     },
     [](Tree& t) { t.move("prepared", "scripts"); },
     {"scripts/pre-commit"}},
    {"a file of an editor's",
     [](Tree& t) {
       t.write("w/scripts/t.json");
       t.make("w/.vscode");
       t.link("../scripts/t.json", "w/.vscode/tasks.json");
     },
     [](Tree& t) { t.write("w/scripts/t.json", "evil"); },
     {"w/scripts/t.json"}},
    {"further down in a member",
     [](Tree& t) {
       t.write("w/s/x");
       t.make("w/.claude/a/b");
       t.link("../../../s/x", "w/.claude/a/b/x");
     },
     [](Tree& t) { t.write("w/s/x", "evil"); },
     {"w/s/x"}},
    {"in the place of hooks",
     [](Tree& t) {
       t.repository("w/.git");
       t.write("w/.git/config", "[core]\n\thooksPath = hk\n");
       t.write("w/s/x");
       t.make("w/hk");
       t.link("../s/x", "w/hk/pre-commit");
     },
     [](Tree& t) { t.write("w/s/x", "evil"); },
     {"w/s/x"}},
    {"the place of hooks is a link",
     [](Tree& t) {
       t.repository("w/.git");
       t.write("w/.git/config", "[core]\n\thooksPath = hk\n");
       t.make("w/s");
       t.link("s", "w/hk");
     },
     [](Tree& t) { t.write("w/s/pre-commit", "evil"); },
     {"w/s/pre-commit"}},
    {"a link on the way is another",
     [](Tree& t) {
       hook_by_link(t);
       fs::remove(t.at("w/.git/hooks/pre-commit"));
       t.link("../../on", "w/.git/hooks/pre-commit");
       t.link("scripts/pre-commit", "w/on");
       t.write("w/prepared", "evil");
     },
     [](Tree& t) {
       fs::remove(t.at("w/on"));
       t.link("prepared", "w/on");
     },
     {"w/on"}},
    {"a link on the way is another, and leads out",
     [](Tree& t) {
       hook_by_link(t);
       fs::remove(t.at("w/.git/hooks/pre-commit"));
       t.link("../../on/pre-commit", "w/.git/hooks/pre-commit");
       t.link("scripts", "w/on");
     },
     [](Tree& t) {
       fs::remove(t.at("w/on"));
       t.link("/usr/bin", "w/on");
     },
     {"w/on"}},
    {"a directory on the way is a link now",
     hook_by_link,
     [](Tree& t) {
       t.move("w/scripts", "w/old");
       t.link("/usr/bin", "w/scripts");
     },
     {"w/scripts"}},
    {"a link on the way is as it was, and the end is not",
     [](Tree& t) {
       hook_by_link(t);
       fs::remove(t.at("w/.git/hooks/pre-commit"));
       t.link("../../on", "w/.git/hooks/pre-commit");
       t.link("scripts/pre-commit", "w/on");
     },
     [](Tree& t) { t.write("w/scripts/pre-commit", "evil"); },
     {"w/scripts/pre-commit"}},
    {"more in a directory that is led to",
     [](Tree& t) {
       t.write("w/s/old");
       t.make("w/.claude");
       t.link("../s", "w/.claude/skills");
     },
     [](Tree& t) { t.write("w/s/new"); },
     {"w/s/new"}},
    {"changed in a directory that is led to, deep in it",
     [](Tree& t) {
       t.write("w/s/a/b/old");
       t.make("w/.claude");
       t.link("../s", "w/.claude/skills");
     },
     [](Tree& t) { t.write("w/s/a/b/old", "evil"); },
     {"w/s/a/b/old"}},
    {"changed by a link in a directory that is led to",
     [](Tree& t) {
       t.write("w/t/x");
       t.make("w/s");
       t.make("w/.claude");
       t.link("../t/x", "w/s/x");
       t.link("../s", "w/.claude/skills");
     },
     [](Tree& t) { t.write("w/t/x", "evil"); },
     {"w/t/x"}},
    {"another directory in its place",
     [](Tree& t) {
       t.write("h/a/x");
       t.link("h/a", ".husky");
     },
     [](Tree& t) {
       t.move("h", "i");
       t.write("h/a/x");
     },
     {"h/a"}},
    {"two links to one file",
     [](Tree& t) {
       hook_by_link(t);
       t.link("pre-commit", "w/.git/hooks/pre-push");
     },
     [](Tree& t) { t.write("w/scripts/pre-commit", "evil"); },
     {"w/scripts/pre-commit"}},
    {"links that lead to each other",
     [](Tree& t) {
       t.make("w/.claude");
       t.make("w/s");
       t.link("../s", "w/.claude/s");
       t.link("../.claude", "w/s/c");
       t.link("round", "w/s/round");
     },
     [](Tree& t) { t.write("w/x"); },
     {}},
    {"a link to what it lies in",
     [](Tree& t) {
       t.make("w/.claude");
       t.link("..", "w/.claude/all");
       t.link("../..", "w/.claude/tree");
     },
     [](Tree& t) { t.write("w/x"); },
     {}},
    {"what lies outside is nobody's business",
     [](Tree& t) {
       t.make("w/.claude");
       t.link("/usr/bin/env", "w/.claude/env");
     },
     [](Tree& t) { t.write("w/x"); },
     {}},
    {"the way is closed",
     hook_by_link,
     [](Tree& t) {
       t.write("w/scripts/pre-commit", "evil");
       ::chmod(t.at("w/scripts").c_str(), 0);
     },
     {"w/scripts/pre-commit"}},
};

TEST(ProtectedEnds, WhatACommandLeaves) {
  for (const auto& row : rows) expect_suspects(row);
}

TEST(ProtectedEnds, WhatACommandLeavesInARememberedTree) {
  for (const auto& row : rows) expect_suspects_in_remembered_tree(row);
}

// Where the look before did not come: only the time of change says whose doing it is.
TEST(ProtectedEnds, OfWhatNobodyKnewBefore) {
  struct Row {
    const char* what;
    std::function<void(Tree&)> command;
    std::vector<std::string> suspects;
  };
  const Row unknown[] = {
      {"nothing", [](Tree&) {}, {}},
      {"a file", [](Tree& t) { t.write("s/file", "evil"); }, {"s/file"}},
      {"in a directory", [](Tree& t) { t.write("d/old", "evil"); }, {"d/old"}},
      {"another directory or more in it: the link goes",
       [](Tree& t) { t.write("d/new"); },
       {".claude/directory"}},
  };
  for (const auto& row : unknown) {
    Tree tree;
    tree.write("s/file");
    tree.write("d/old");
    tree.make(".claude");
    tree.link("../s/file", ".claude/file");
    tree.link("../d", ".claude/directory");
    Tree::let_the_clock_tick();
    const ChangeTime since = change_time_now();
    row.command(tree);
    EXPECT_EQ(paths_of(tree.after({}, since)), row.suspects) << row.what;
  }
}

std::vector<std::string> kept_in(const Tree& tree) {
  std::vector<std::string> kept;
  for (const auto& fact : tree.before().files) {
    if (fact.kept) kept.push_back(fact.file.path.substr(tree.root().size() + 1));
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

TEST(ProtectedEnds, AreReadOnlyMeanwhile) {
  Tree tree;
  tree.repository(".git");
  tree.write(".git/config", "[core]\n\thooksPath = hk\n");
  for (const char* name :
       {"scripts/hook", "scripts/placed", "scripts/task", "rules/a", "rules-of-b", "deep/w/x"})
    tree.write(name);
  for (const char* name : {"hk", ".vscode", ".claude", "deep/w/.vscode"}) tree.make(name);
  tree.link("../../on", ".git/hooks/pre-commit");
  tree.link("../../on", ".git/hooks/pre-push");
  tree.link("scripts/hook", "on");
  tree.link("../scripts/placed", "hk/pre-commit");
  tree.link("../scripts/task", ".vscode/tasks.json");
  tree.link("../rules", ".claude/rules");
  tree.link("../rules-of-b", "rules/b");
  tree.link("..", ".claude/all");
  tree.link("../nowhere", ".claude/nowhere");
  tree.link("/usr/bin/env", ".claude/env");
  tree.link("../x", "deep/w/.vscode/x");
  EXPECT_EQ(kept_in(tree),
            (std::vector<std::string>{".claude", ".git/config", ".git/hooks", ".vscode", "rules",
                                      "rules-of-b", "scripts/hook", "scripts/placed", "scripts/task"}));
}

// However many links there are, what they lead to takes no member's place.
TEST(ProtectedEnds, MembersAreKeptBeforeThem) {
  Tree tree;
  tree.make(".claude");
  for (int i = 0; i < 100; ++i) {
    const std::string name = std::to_string(i);
    tree.write("s/" + name);
    tree.link("../s/" + name, ".claude/" + name);
  }
  tree.write(".vscode/tasks.json");
  tree.write("z.code-workspace");
  const auto kept = kept_in(tree);
  EXPECT_EQ(kept.size(), 64U);
  for (const char* member : {".claude", ".vscode", "z.code-workspace"})
    EXPECT_EQ(std::count(kept.begin(), kept.end(), member), 1) << member;
  Tree::let_the_clock_tick();
  const auto known = tree.before();
  const ChangeTime since = change_time_now();
  EXPECT_EQ(paths_of(tree.after(known, since)), std::vector<std::string>{});
}

// What a link leads to that the kernel can open, and not name.
TEST(ProtectedEnds, AnEndThatTheKernelCannotName) {
  Tree tree;
  tree.write("conf/envrc");
  tree.make("a");
  tree.link("../conf/envrc", "a/.envrc");
  Tree::let_the_clock_tick();
  const auto known = tree.before();
  const ChangeTime since = change_time_now();
  const std::string name(200, 'd');
  std::string half = name;
  for (int i = 0; i < 14; ++i) half += "/" + name;
  tree.move("conf", "old");
  tree.make("far/" + half);
  const OwnedFd middle = std::move(sys::open(tree.at("far/" + half), O_RDONLY | O_DIRECTORY)).value();
  OwnedFd at = std::move(sys::open_at(middle.get(), ".", O_RDONLY | O_DIRECTORY)).value();
  for (int i = 0; i < 15; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), name.c_str(), 0755), 0);
    at = std::move(sys::open_at(at.get(), name, O_RDONLY | O_DIRECTORY)).value();
  }
  ASSERT_TRUE(sys::open_at(at.get(), "envrc", O_WRONLY | O_CREAT, 0644).ok());
  ASSERT_EQ(::symlinkat(half.c_str(), middle.get(), "on"), 0);
  tree.link("far/" + half + "/on", "conf");
  EXPECT_EQ(paths_of(tree.after(known, since)), std::vector<std::string>{"conf"});
  remove_tree(tree.at("far"));
}

}  // namespace
}  // namespace cloche
