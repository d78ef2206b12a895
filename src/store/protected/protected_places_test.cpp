// What is executed because a configuration of git says so: in the tree, around it, or the operator's own.
#include "store/protected/protected_walk_fixture.hpp"

namespace cloche {
namespace {

void says(Tree& t, const std::string& config, const std::string& text) {
  t.write(config, "[core]\n\tbare = false\n" + text);
}

const WalkRow rows[] = {
    {"however it is written",
     [](Tree& t) {
       for (const char* name : {"a", "b", "c", "d", "e"}) t.repository(std::string(name) + "/.git");
       t.write("a/.git/config", "[core] hooksPath = hk\n");
       t.write("b/.git/config", "[core]\n\thooksPath = hk # of ours\n");
       t.write("c/.git/config", "[core]\n\thooksPath = \"hk\" ; of ours\n");
       t.write("d/.git/config", "[core]\n\thooksPath = h\\\nk\n");
       t.write("e/.git/config", "[core]\n\thooksPath = \"x \\\"y\\\"\"\n");
     },
     [](Tree& t) {
       for (const char* name : {"a", "b", "c", "d"}) t.write(std::string(name) + "/hk/pre-commit");
       t.write("e/x \"y\"/pre-commit");
     },
     {"a/hk", "b/hk", "c/hk", "d/hk", "e/x \"y\""}},
    {"a place that was not there and comes with a directory above it, with what is older",
     [](Tree& t) {
       t.repository("w/.git");
       says(t, "w/.git/config", "hooksPath = tools/hk\n\tfsmonitor = more/monitor\n");
       t.write("w/away/hk/pre-commit");
       t.write("w/aside/monitor");
     },
     [](Tree& t) {
       t.move("w/away", "w/tools");
       t.move("w/aside", "w/more");
     },
     {"w/more/monitor", "w/tools/hk"}},
    {"from home",
     [](Tree& t) {
       t.configure("");
       t.repository("w/.git");
       says(t, "w/.git/config", "hooksPath = ~/hk\n");
       t.write("hk/pre-push");
     },
     [](Tree& t) { t.write("hk/pre-commit"); },
     {"hk/pre-commit"}},
    {"what is included, and what that includes",
     [](Tree& t) {
       t.repository("w/.git");
       says(t, "w/.git/config", "[include]\n\tpath = ../one/config\n");
       t.write("w/one/config", "[includeIf \"gitdir:/nowhere/\"]\n\tpath = two\n");
       t.write("w/one/two", "[core]\n\thooksPath = hk\n");
       t.write("w/hk/pre-push");
     },
     [](Tree& t) {
       t.write("w/hk/pre-commit");
       t.write("w/one/beside");
     },
     {"w/hk/pre-commit"}},
    {"an included file itself",
     [](Tree& t) {
       t.repository("w/.git");
       says(t, "w/.git/config", "[include]\n\tpath = ../one\n");
       t.write("w/one", "[include]\n\tpath = two\n");
       t.write("w/two");
     },
     [](Tree& t) { t.write("w/two", "[core]\n\tfsmonitor = x\n"); },
     {"w/two"}},
    {"files that include each other",
     [](Tree& t) {
       t.repository("w/.git");
       says(t, "w/.git/config", "[include]\n\tpath = ../one\n\tpath = ../one\n");
       t.write("w/one", "[include]\n\tpath = two\n\tpath = two\n");
       t.write("w/two", "[include]\n\tpath = one\n\tpath = one\n[core]\n\thooksPath = hk\n");
       t.write("w/hk/pre-push");
     },
     [](Tree& t) { t.write("w/hk/pre-commit"); },
     {"w/hk/pre-commit"}},
    {"a submodule's",
     [](Tree& t) {
       t.repository(".git");
       t.repository(".git/modules/lib");
       t.write(".git/modules/lib/config", "[core]\n\tworktree = ../../../lib\n\thooksPath = hk\n");
       t.write("lib/.git", "gitdir: ../.git/modules/lib\n");
       t.write("lib/hk/pre-push");
     },
     [](Tree& t) { t.write("lib/hk/pre-commit"); },
     {"lib/hk/pre-commit"}},
    {"a submodule's, by its own configuration alone",
     [](Tree& t) {
       t.repository(".git");
       t.repository(".git/modules/lib");
       t.write(".git/modules/lib/config", "[core]\n\tworktree = ../../../lib\n\thooksPath = hk\n");
       t.write("lib/hk/pre-push");
     },
     [](Tree& t) { t.write("lib/hk/pre-commit"); },
     {"lib/hk/pre-commit"}},
    {"in a worktree of the tree's own",
     [](Tree& t) {
       t.repository(".git");
       says(t, ".git/config", "hooksPath = hk\n");
       t.write(".git/worktrees/w/HEAD");
       t.write(".git/worktrees/w/commondir", "../..\n");
       t.write("w/.git", "gitdir: ../.git/worktrees/w\n");
       t.write("w/hk/pre-push");
     },
     [](Tree& t) { t.write("w/hk/pre-commit"); },
     {"w/hk/pre-commit"}},
    {"in a worktree of a repository outside",
     [](Tree& t) {
       t.repository("main/.git");
       says(t, "main/.git/config", "hooksPath = tools/hk\n");
       t.write("main/.git/worktrees/w/commondir", "../..\n");
       t.write("main/.git/worktrees/w/config.worktree", "[core]\n\tfsmonitor = tools/fs\n");
       t.write("w/.git", "gitdir: ../main/.git/worktrees/w\n");
       t.write("w/tools/hk/pre-push");
       t.write("w/tools/fs");
       t.look_only_in("w");
     },
     [](Tree& t) {
       t.write("w/tools/hk/pre-commit");
       t.write("w/tools/fs", "evil");
       t.write("w/tools/other");
     },
     {"tools/fs", "tools/hk/pre-commit"}},
    {"in a directory of a repository",
     [](Tree& t) {
       t.repository(".git");
       says(t, ".git/config", "hooksPath = sub/hk\n");
       t.write("sub/hk/pre-push");
       t.look_only_in("sub");
     },
     [](Tree& t) { t.write("sub/hk/pre-commit"); },
     {"hk/pre-commit"}},
    {"a checkout whose .git is a link",
     [](Tree& t) {
       t.repository("store");
       says(t, "store/config", "hooksPath = hk\n");
       t.write("w/hk/pre-push");
       t.link("../store", "w/.git");
     },
     [](Tree& t) { t.write("w/hk/pre-commit"); },
     {"w/hk/pre-commit"}},
    {"the operator's own, in each repository",
     [](Tree& t) {
       t.configure("[core]\n\thooksPath = hk\n");
       t.repository("a/.git");
       t.repository("bare");
       t.write("a/hk/pre-push");
       t.write("bare/hk/pre-push");
     },
     [](Tree& t) {
       t.write("a/hk/pre-commit");
       t.write("bare/hk/pre-commit");
       t.write("hk/pre-commit");
       t.repository("new/.git");
       t.write("new/hk/pre-commit");
     },
     {"a/hk/pre-commit", "bare/hk/pre-commit", "new/hk"}},
    {"the operator's own, by a whole path",
     [](Tree& t) {
       t.configure("[core]\n\thooksPath = " + t.root() + "/hk\n[diff]\n\texternal = " + t.root() +
                   "/bin/d -x\n[include]\n\tpath = ~/more\n");
       t.write("hk/pre-push");
       t.write("bin/d");
     },
     [](Tree& t) {
       t.write("hk/pre-commit");
       t.write("bin/d", "evil");
       t.write("bin/e");
       t.write("more");
     },
     {"bin/d", "hk/pre-commit", "more"}},
    {"the operator's own is the usual place",
     [](Tree& t) {
       t.configure("[core]\n\thooksPath = .git/./hooks\n");
       t.repository("a/.git");
     },
     [](Tree& t) {
       t.repository("new/.git");
       t.write("a/.git/hooks/pre-commit");
       t.write("new/.git/hooks/pre-commit");
     },
     {"a/.git/hooks/pre-commit", "new/.git/hooks/pre-commit"}},
    {"a program that was not there",
     [](Tree& t) {
       t.repository("w/.git");
       says(t, "w/.git/config", "fsmonitor = ./tools/fs\n");
     },
     [](Tree& t) { t.write("w/tools/fs"); },
     {"w/tools/fs"}},
    {"a program that came with its directory",
     [](Tree& t) {
       t.repository("w/.git");
       says(t, "w/.git/config", "fsmonitor = ./tools/fs\n");
       t.write("w/tools/fs");
       t.write("w/prepared/fs", "evil");
     },
     [](Tree& t) { t.exchange("w/tools", "w/prepared"); },
     {"w/tools/fs"}},
    {"what is named is a directory, and no program",
     [](Tree& t) {
       t.repository("w/.git");
       says(t, "w/.git/config", "pager = ./src\n");
       t.make("w/src");
     },
     [](Tree& t) { t.write("w/src/a"); },
     {}},
};

TEST(ProtectedPlaces, WhatACommandLeaves) {
  for (const auto& row : rows) expect_suspects(row);
}

TEST(ProtectedPlaces, WhatACommandLeavesInARememberedTree) {
  for (const auto& row : rows) expect_suspects_in_remembered_tree(row);
}

// It is configuration like any other; the hooks that it names stay as writable as they are.
TEST(ProtectedPlaces, AnIncludedFileIsReadOnly) {
  Tree tree;
  tree.repository(".git");
  says(tree, ".git/config", "hooksPath = hk\n[include]\n\tpath = ../one\n");
  tree.write("one", "[include]\n\tpath = two\n");
  tree.write("two");
  tree.make("hk");
  std::vector<std::string> kept;
  for (const auto& fact : tree.before().files) {
    if (fact.kept) kept.push_back(fact.file.path.substr(tree.root().size() + 1));
  }
  std::sort(kept.begin(), kept.end());
  EXPECT_EQ(kept, (std::vector<std::string>{".git/config", ".git/hooks", "one", "two"}));
}

}  // namespace
}  // namespace cloche
