// What lies in the tree and is executed because something outside of it leads there: a link of the repository
// around it, of the one that it is a worktree of, or of the operator's home.
#include "store/protected/protected_walk_fixture.hpp"

namespace cloche {
namespace {

void around(Tree& t) {
  t.repository("r/.git");
  t.make("r/s");
  t.look_only_in("r/s");
}

const WalkRow rows[] = {
    {"a hook of the repository around",
     [](Tree& t) {
       around(t);
       t.write("r/s/scripts/pc");
       t.link("../../s/scripts/pc", "r/.git/hooks/pre-commit");
     },
     [](Tree& t) { t.write("r/s/scripts/pc", "evil\n"); },
     {"scripts/pc"}},
    {"its hooks as a whole",
     [](Tree& t) {
       around(t);
       t.write("r/s/hooks/pre-push");
       std::filesystem::remove_all(t.at("r/.git/hooks"));
       t.link("../s/hooks", "r/.git/hooks");
     },
     [](Tree& t) { t.write("r/s/hooks/pre-commit", "evil\n"); },
     {"hooks/pre-commit"}},
    {"its configuration",
     [](Tree& t) {
       around(t);
       t.write("r/s/cfg", "[core]\n\tbare = false\n");
       std::filesystem::remove(t.at("r/.git/config"));
       t.link("../s/cfg", "r/.git/config");
     },
     [](Tree& t) { t.write("r/s/cfg", evil_config); },
     {"cfg"}},
    {"a hook of the repository that the tree is a worktree of",
     [](Tree& t) {
       t.repository("r/.git");
       t.write("r/.git/worktrees/w/HEAD");
       t.write("r/.git/worktrees/w/commondir", "../..\n");
       t.write("w/.git", "gitdir: ../r/.git/worktrees/w\n");
       t.write("w/scripts/pc");
       t.link("../../../w/scripts/pc", "r/.git/hooks/pre-commit");
       t.look_only_in("w");
     },
     [](Tree& t) { t.write("w/scripts/pc", "evil\n"); },
     {"scripts/pc"}},
    {"a hook in a directory elsewhere",
     [](Tree& t) {
       t.configure("[core]\n\thooksPath = ~/hk\n");
       t.make("hk");
       t.repository("w/.git");
       t.write("w/d/pc");
       t.link("../w/d/pc", "hk/post-commit");
       t.link("../w/d/to-be", "hk/pre-push");
       t.look_only_in("w");
     },
     [](Tree& t) {
       t.write("w/d/pc", "evil\n");
       t.write("w/d/to-be", "evil\n");
     },
     {"d/pc", "d/to-be"}},
    {"a hook in a directory elsewhere that the repository's hooks lead to",
     [](Tree& t) {
       t.repository("w/.git");
       std::filesystem::remove_all(t.at("w/.git/hooks"));
       t.make("oh");
       t.link("../../oh", "w/.git/hooks");
       t.write("w/d/pc");
       t.link("../w/d/pc", "oh/post-commit");
       t.look_only_in("w");
     },
     [](Tree& t) { t.write("w/d/pc", "evil\n"); },
     {"d/pc"}},
    {"attributes of the repository around",
     [](Tree& t) {
       around(t);
       t.make("r/.git/info");
       t.write("r/s/attrs");
       t.link("../../s/attrs", "r/.git/info/attributes");
     },
     [](Tree& t) { t.write("r/s/attrs", "* filter=x\n"); },
     {"attrs"}},
    {"what is in directories of the operator's home",
     [](Tree& t) {
       t.configure("");
       for (const char* name : {"a.vim", "init.vim", "notes"}) t.write(std::string("dots/") + name);
       t.make(".vim/plugin");
       t.link("../../dots/a.vim", ".vim/plugin/a.vim");
       t.make("other/nvim");
       t.link("other", ".config");
       t.link("../../dots/init.vim", "other/nvim/init.vim");
       t.look_only_in("dots");
     },
     [](Tree& t) {
       for (const char* name : {"a.vim", "init.vim", "notes"}) t.write(std::string("dots/") + name, "evil\n");
     },
     {"a.vim", "init.vim"}},
    {"files of the operator's home",
     [](Tree& t) {
       t.configure("");
       for (const char* name : {"bashrc", "gitconfig", "nvim/init.lua", "notes"})
         t.write(std::string("dots/") + name);
       t.link("dots/bashrc", ".bashrc");
       t.link("dots/gitconfig", ".gitconfig");
       t.link("dots/notes", "notes");
       t.make(".config");
       t.link("../dots/nvim", ".config/nvim");
       t.look_only_in("dots");
     },
     [](Tree& t) {
       for (const char* name : {"bashrc", "gitconfig", "nvim/init.lua", "notes"})
         t.write(std::string("dots/") + name, "evil\n");
     },
     {"bashrc", "gitconfig", "nvim/init.lua"}},
};

// On native all but directories are read-only; here, as where there are no mounts, nothing is.
void expect_found(const WalkRow& row) {
  Tree tree;
  row.stage(tree);
  Tree::let_the_clock_tick();
  TreeFacts known = tree.before();
  for (auto& fact : known.files) fact.kept = false;
  const ChangeTime since = change_time_now();
  row.command(tree);
  EXPECT_EQ(paths_of(tree.after(known, since)), row.suspects) << row.what;
}

TEST(ProtectedOutside, WhatALinkFromThereLeadsToIsLookedAt) {
  for (const auto& row : rows) expect_found(row);
}

TEST(ProtectedOutside, AndReadOnlyWhereThatCanBe) {
  Tree tree;
  tree.configure("");
  tree.write("dots/bashrc");
  tree.link("dots/bashrc", ".bashrc");
  tree.look_only_in("dots");
  const auto known = tree.before();
  const auto is_kept = [&](const ProtectedFact& fact) {
    return fact.kept && fact.file.path == tree.root() + "/bashrc";
  };
  EXPECT_TRUE(std::any_of(known.files.begin(), known.files.end(), is_kept));
}

TEST(ProtectedOutside, ASubmoduleThatIsMovedIsTheUsersStill) {
  Tree tree;
  tree.repository("r/.git");
  tree.repository("r/.git/modules/sm");
  tree.write("r/libs/sm/.git", "gitdir: ../../.git/modules/sm\n");
  tree.look_only_in("r/libs");
  Tree::let_the_clock_tick();
  const auto known = tree.before();
  const ChangeTime since = change_time_now();
  tree.move("r/libs/sm", "r/libs/sm2");
  EXPECT_EQ(paths_of(tree.after(known, since)), std::vector<std::string>{});
}

// The look in one tree finds a lead that ends in another.
TEST(ProtectedOutside, OfADirectoryInAnotherTreeOnlyWhatIsNewGoes) {
  Tree tree;
  tree.repository("w/.git");
  tree.write("w/.git/config", "[core]\n\thooksPath = " + std::filesystem::canonical(tree.at(".")).string() +
                                  "/shared/hooks\n");
  tree.write("shared/hooks/commit-msg");
  Tree::let_the_clock_tick();
  tree.look_only_in("w");
  const TreeFacts of_first = tree.before();
  tree.look_only_in("shared");
  TreeFacts known = tree.before();
  add_leads(known.leads, of_first.leads);
  const ChangeTime since = change_time_now();
  tree.write("shared/hooks/README");
  EXPECT_EQ(paths_of(tree.after(known, since)), std::vector<std::string>{"hooks/README"});
}

}  // namespace
}  // namespace cloche
