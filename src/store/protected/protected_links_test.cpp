// Links that a command leaves where git writes: git on the host would write through them.
#include "store/protected/protected_walk_fixture.hpp"

namespace cloche {
namespace {

void link_in_repository(Tree& tree, const std::string& name) {
  std::filesystem::create_directories(tree.at(name).parent_path());
  tree.link("/home/u/.bashrc", name);
}

const WalkRow rows[] = {
    {"the log of a branch",
     [](Tree& t) { t.repository(".git"); },
     [](Tree& t) { link_in_repository(t, ".git/logs/refs/heads/x"); },
     {".git/logs/refs/heads/x"}},
    {"files at the top",
     [](Tree& t) { t.repository(".git"); },
     [](Tree& t) {
       for (const char* name : {"index", "COMMIT_EDITMSG", "FETCH_HEAD", "anything"})
         link_in_repository(t, std::string(".git/") + name);
     },
     {".git/COMMIT_EDITMSG", ".git/FETCH_HEAD", ".git/anything", ".git/index"}},
    {"one that was there, and its directory is written to",
     [](Tree& t) {
       t.repository(".git");
       link_in_repository(t, ".git/logs/refs");
       link_in_repository(t, ".git/shared");
     },
     [](Tree& t) {
       t.write(".git/logs/HEAD");
       t.write(".git/index");
     },
     {}},
    {"one that leads to what is there and changed",
     [](Tree& t) {
       t.repository(".git");
       std::filesystem::remove_all(t.at(".git/objects"));
       t.make("shared/objects");
       t.link("../shared/objects", ".git/objects");
     },
     [](Tree& t) { t.write("shared/objects/ab/c"); },
     {}},
    {"within the repository",
     [](Tree& t) { t.repository(".git"); },
     [](Tree& t) { t.link("../config", ".git/refs/x"); },
     {".git/refs/x"}},
    {"among objects and references",
     [](Tree& t) {
       t.repository(".git");
       t.write(".git/objects/ab/c");
     },
     [](Tree& t) {
       link_in_repository(t, ".git/objects/ab/d");
       link_in_repository(t, ".git/objects/pack/p");
       link_in_repository(t, ".git/refs/heads/a/b");
     },
     {".git/objects/ab/d", ".git/objects/pack/p", ".git/refs/heads/a/b"}},
    {"a HEAD that leads elsewhere",
     [](Tree& t) { t.repository(".git"); },
     [](Tree& t) {
       std::filesystem::remove(t.at(".git/HEAD"));
       link_in_repository(t, ".git/HEAD");
     },
     {".git/HEAD"}},
    {"a HEAD as old repositories have it",
     [](Tree& t) { t.repository(".git"); },
     [](Tree& t) {
       std::filesystem::remove(t.at(".git/HEAD"));
       t.link("refs/heads/main", ".git/HEAD");
     },
     {}},
    {"a bare repository's, in other letters",
     [](Tree& t) { t.repository("b"); },
     [](Tree& t) { link_in_repository(t, "b/LOGS/HEAD"); },
     {"b/LOGS/HEAD"}},
    {"a submodule's",
     [](Tree& t) {
       t.repository(".git");
       t.repository(".git/modules/a/b");
     },
     [](Tree& t) { link_in_repository(t, ".git/modules/a/b/logs/HEAD"); },
     {".git/modules/a/b/logs/HEAD"}},
    {"a worktree's",
     [](Tree& t) {
       t.repository(".git");
       t.write(".git/worktrees/w/HEAD");
     },
     [](Tree& t) {
       link_in_repository(t, ".git/worktrees/w/index");
       link_in_repository(t, ".git/worktrees/w/logs/HEAD");
     },
     {".git/worktrees/w/index", ".git/worktrees/w/logs/HEAD"}},
    {"a new repository's",
     {},
     [](Tree& t) {
       t.repository(".git");
       link_in_repository(t, ".git/logs/x");
     },
     {".git/logs/x"}},
    {"an old one, in what became a repository by a rename",
     [](Tree& t) { link_in_repository(t, "x/logs/refs/x"); },
     [](Tree& t) { t.move("x", ".git"); },
     {".git/logs/refs/x"}},
    {"an old one, in what became one by what was added",
     [](Tree& t) { link_in_repository(t, "x/logs/refs/x"); },
     [](Tree& t) {
       t.make("x/objects");
       t.make("x/refs");
       t.write("x/HEAD", "ref: refs/heads/main\n");
     },
     {"x/logs/refs/x"}},
    {"an old one among objects of what became one",
     [](Tree& t) { link_in_repository(t, "x/objects/ab/c"); },
     [](Tree& t) {
       t.make("x/refs");
       t.write("x/HEAD", "ref: refs/heads/main\n");
     },
     {"x/objects/ab/c"}},
    {"an old one, moved there with its directory",
     [](Tree& t) {
       t.repository(".git");
       link_in_repository(t, "x/HEAD");
     },
     [](Tree& t) { t.move("x", ".git/logs"); },
     {".git/logs/HEAD"}},
    {"behind names as of a repository",
     [](Tree& t) { t.repository(".git"); },
     [](Tree& t) {
       t.make(".git/refs/objects");
       t.make(".git/refs/refs");
       link_in_repository(t, ".git/refs/heads/x");
     },
     {".git/refs/heads/x"}},
    {"a checkout in a bare repository has what links it likes",
     [](Tree& t) { t.repository("b"); },
     [](Tree& t) { link_in_repository(t, "b/main/node_modules/.bin/x"); },
     {}},
    {"elsewhere", {}, [](Tree& t) { link_in_repository(t, "logs/refs/heads/x"); }, {}},
};

TEST(ProtectedLinks, WhatACommandLeaves) {
  for (const auto& row : rows) expect_suspects(row);
}

TEST(ProtectedLinks, WhatACommandLeavesInARememberedTree) {
  for (const auto& row : rows) expect_suspects_in_remembered_tree(row);
}

// What a worktree writes of a bare repository is a tree of its own, and no name on the way says git.
TEST(ProtectedLinks, APartOfARepositoryAsTheRoot) {
  for (const char* part : {"logs", "refs", "objects", "worktrees/w"}) {
    Tree tree;
    tree.repository("bare");
    const std::string place = std::string("bare/") + part;
    tree.make(place);
    Tree::let_the_clock_tick();
    const ChangeTime since = change_time_now();
    link_in_repository(tree, place + "/a/b");
    const std::string root = tree.root() + "/" + place;
    const HeldRoot held{root, std::move(sys::open(root, O_RDONLY | O_DIRECTORY)).value()};
    EXPECT_EQ(paths_of(look_after(held, {}, since)), std::vector<std::string>{"a/b"}) << part;
  }
}

}  // namespace
}  // namespace cloche
