// What a directory is to git may change with one name in it, and then all that has long been in it counts:
// whatever is moved there, by which name, and however old it is.
#include "store/protected/protected_walk_fixture.hpp"

namespace cloche {
namespace {

void write_head(Tree& tree, const std::string& directory) {
  tree.write(directory + "/HEAD", "ref: refs/heads/main\n");
}

// As git has it for a second worktree, but for what `without` names.
void write_part(Tree& tree, const std::string& directory, const std::string& without) {
  tree.repository("r");
  tree.write(directory + "/config.worktree", evil_config);
  if (without != "HEAD") write_head(tree, directory);
  if (without != "commondir") tree.write(directory + "/commondir", "../r\n");
}

const std::vector<WalkRow>& rows() {
  static const std::vector<WalkRow> all = {
      {"a known file moved to the name that makes it a worktree's part",
       [](Tree& tree) {
         write_part(tree, "x", "commondir");
         write_head(tree, "w");
         tree.write("w/commondir", "../r\n");
       },
       [](Tree& tree) { tree.move("w/commondir", "x/commondir"); },
       {"x/config.worktree"}},
      {"a HEAD in a directory that is known for another reason",
       [](Tree& tree) { write_part(tree, ".config", "HEAD"); },
       [](Tree& tree) { write_head(tree, ".config"); },
       {".config/config.worktree"}},
      {"a known file moved to where git asks for refs",
       [](Tree& tree) {
         tree.repository("b");
         tree.repository(".github");
         tree.write(".github/config", evil_config);
         std::filesystem::remove(tree.at(".github/refs"));
       },
       [](Tree& tree) { tree.move("b/config", ".github/refs"); },
       {".github/config"}},
      {"a HEAD beside objects and refs",
       [](Tree& tree) {
         tree.make("src/objects");
         tree.make("src/refs");
         tree.write("src/config", evil_config);
       },
       [](Tree& tree) { write_head(tree, "src"); },
       {"src/config"}},
      {"refs beside objects, for another's HEAD",
       [](Tree& tree) {
         tree.make("k/objects");
         tree.write("k/config", evil_config);
         tree.write("k/hooks/post-checkout");
         write_head(tree, "w");
         tree.write("w/commondir", "../k\n");
       },
       [](Tree& tree) { tree.make("k/refs"); },
       {"k/config", "k/hooks/post-checkout", "w/commondir"}},
      {"a common part of a command's own, where hardly anything is judged",
       [](Tree& tree) {
         tree.make("k/objects");
         tree.write("k/info/attributes");
       },
       [](Tree& tree) {
         tree.make("k/refs");
         tree.make("l");
         tree.link("../k", "l/k");
         write_head(tree, "w");
         tree.write("w/commondir", "../l/k\n");
       },
       {"w/commondir"}},
      {"a common part that has lost its HEAD",
       [](Tree& tree) {
         write_part(tree, "w", "");
         std::filesystem::remove(tree.at("w/config.worktree"));
       },
       [](Tree& tree) {
         std::filesystem::remove(tree.at("r/HEAD"));
         tree.write("r/info/attributes");
       },
       {"w/commondir"}},
      {"likewise a .git, all of which is judged all the same",
       [](Tree& tree) {
         tree.repository(".git");
         write_head(tree, ".git/worktrees/w");
         tree.write(".git/worktrees/w/commondir", "../..\n");
       },
       [](Tree& tree) {
         std::filesystem::remove(tree.at(".git/HEAD"));
         tree.write(".git/info/attributes");
       },
       {".git/info/attributes"}},
      {"a HEAD for what was prepared while there was none",
       [](Tree& tree) {
         for (const char* part : {"k/objects", "k/refs", "k/logs"}) tree.make(part);
         tree.write("k/info/attributes");
         tree.write("k/modules/new/hooks/pre-commit");
         tree.link("/home/x/.bashrc", "k/logs/HEAD");
       },
       [](Tree& tree) { write_head(tree, "k"); },
       {"k/info/attributes", "k/logs/HEAD", "k/modules/new/hooks/pre-commit"}},
      {"sources that have come to look like a common part",
       [](Tree& tree) {
         for (const char* name :
              {"branches/bank.ts", "remotes/api.ts", "modules/user/hooks/useUser.ts", "modules/user/config",
               "info/attributes", "hooks/post-list.ts", "hooks/useX/index.ts", "objects/o.ts", "config/a.ts"})
           tree.write("src/" + std::string(name));
         tree.link("objects/o.ts", "src/l.ts");
         tree.link("../objects/o.ts", "src/info/l.ts");
         tree.link("../objects/o.ts", "src/hooks/l.ts");
       },
       [](Tree& tree) { tree.write("src/refs/index.ts"); },
       {}},
      {"objects and refs without a HEAD are anybody's",
       [](Tree& tree) {
         tree.make("src/objects");
         tree.make("src/refs");
         tree.write("src/config/a.ts");
       },
       [](Tree& tree) {
         tree.write("src/config/b.ts");
         tree.write("src/hooks/useThis.ts");
       },
       {}},
      {"a part of a repository that has what makes one itself",
       [](Tree& tree) {
         tree.repository(".git");
         tree.make(".git/info");
         tree.make(".git/rebase-merge");
       },
       [](Tree& tree) {
         for (const std::string part : {".git/info", ".git/rebase-merge", ".git/worktrees/w"}) {
           tree.make(part + "/objects");
           tree.make(part + "/refs");
           write_head(tree, part);
         }
         tree.write(".git/info/attributes");
         tree.write(".git/rebase-merge/git-rebase-todo", "exec ./x\n");
         tree.write(".git/worktrees/w/gitdir", "/usr/share/.git\n");
       },
       {".git/info/attributes", ".git/rebase-merge/git-rebase-todo", ".git/worktrees/w/gitdir"}},
      {"likewise where submodules are",
       [](Tree& tree) { tree.repository(".git"); },
       [](Tree& tree) {
         tree.repository(".git/modules");
         tree.write(".git/modules/sub/config", evil_config);
         tree.write(".git/modules/sub/hooks/post-checkout");
       },
       {".git/modules/sub/config", ".git/modules/sub/hooks/post-checkout"}},
      {"a branch of a submodule may have any name",
       [](Tree& tree) { tree.repository(".git"); },
       [](Tree& tree) {
         tree.repository(".git/modules/sub");
         tree.write(".git/modules/sub/refs/heads/config", "not a configuration\n");
       },
       {}},
      {"a worktree's part where submodules are, with a rebase in it",
       [](Tree& tree) { tree.repository(".git"); },
       [](Tree& tree) {
         write_head(tree, ".git/modules/w");
         tree.write(".git/modules/w/commondir", "../..\n");
         tree.write(".git/modules/w/rebase-merge/git-rebase-todo", "exec ./x\n");
         tree.write(".git/modules/x/.git/rebase-merge/git-rebase-todo", "exec ./x\n");
       },
       {".git/modules/w/rebase-merge/git-rebase-todo", ".git/modules/x/.git/rebase-merge/git-rebase-todo"}},
      {"files of a repository in its own hooks",
       [](Tree& tree) { tree.repository("p/.git"); },
       [](Tree& tree) { tree.write("p/.git/config", "[core]\n\tworktree = hooks\n"); },
       {"p/.git/config"}},
      {"pointers that lead out where they are moved to",
       [](Tree& tree) {
         tree.look_only_in("w");
         tree.repository("g");
         tree.repository("w/g");
         tree.write("w/a/f/.git", "gitdir: ../../g\n");
         tree.make("w/a/l");
         tree.link("../../g", "w/a/l/.git");
         write_head(tree, "w/a/c/x");
         tree.write("w/a/c/x/commondir", "../../../g\n");
       },
       [](Tree& tree) {
         tree.move("w/a/f", "w/f");
         tree.move("w/a/l", "w/l");
         tree.move("w/a/c", "w/c");
       },
       {"c/x/commondir", "f/.git", "l/.git"}},
      {"a pointer that means another place to everybody",
       [](Tree& tree) { tree.repository("l/e"); },
       [](Tree& tree) {
         tree.write("f/.git", "gitdir: /proc/self/cwd/l/e\n");
         tree.make("k");
         tree.link("/proc/self/cwd/l/e", "k/.git");
       },
       {"f/.git", "k/.git"}},
      {"a link in place of a checkout, where git would mend what leads back",
       [](Tree& tree) {
         tree.repository(".git");
         write_head(tree, ".git/worktrees/l");
         tree.write(".git/worktrees/l/commondir", "../..\n");
         tree.write(".git/worktrees/l/gitdir", tree.root() + "/l/.git\n");
         tree.write("l/.git", "gitdir: ../.git/worktrees/l\n");
       },
       [](Tree& tree) {
         tree.move("l", "l2");
         tree.link("/usr/share", "l");
       },
       {"l"}},
      {"other spellings of the name that git reads",
       [](Tree& tree) { write_part(tree, "x", ""); },
       [](Tree& tree) {
         for (const char* name : {"Config", "cOnfig", "coNfig", "conFig", "confIg", "confiG"})
           tree.write("x/" + std::string(name) + ".worktree", "");
         tree.write("x/config.worktree", "[core]\n\tfsmonitor = ./another\n");
         for (const char* name : {"Commondir", "cOmmondir", "coMmondir"})
           tree.write("x/" + std::string(name), "../r\n");
         tree.write("x/commondir", "/usr/share\n");
       },
       {"x/commondir", "x/config.worktree"}},
      {"a repository of Jujutsu's that is elsewhere",
       [](Tree& tree) { tree.make("other/.jj/repo"); },
       [](Tree& tree) {
         tree.write("a/.jj/repo", "/usr/share");
         tree.write("b/.jj/repo", "../../other/.jj/repo");
       },
       {"a/.jj/repo"}},
      {"where git puts what it finds",
       [](Tree& tree) { tree.repository(".git"); },
       [](Tree& tree) {
         tree.make(".git/lost-found/other");
         tree.link("/home/x/.bashrc", ".git/lost-found/other/1234");
         tree.make(".git/NOTES_MERGE_WORKTREE");
         tree.link("/home/x/.bashrc", ".git/NOTES_MERGE_WORKTREE/1234");
       },
       {".git/NOTES_MERGE_WORKTREE/1234", ".git/lost-found/other/1234"}},
      {"a file that leads to a directory of hooks does not hide that it is one",
       [](Tree& tree) {
         tree.repository("p/.git");
         tree.write("p/.git/config", "[core]\n\thooksPath = tools/hooks\n");
         tree.write("p/tools/hooks/pre-commit");
         tree.write(".git", "gitdir: " + tree.root() + "/p/tools/hooks\n");
       },
       [](Tree& tree) {
         tree.move("p/.git", "p/other");
         tree.write("p/tools/hooks/pre-commit", "evil\n");
       },
       {"p/tools/hooks/pre-commit"}},
  };
  return all;
}

TEST(ProtectedBecoming, WhatHasLongBeenThereCounts) {
  for (const auto& row : rows()) expect_suspects(row);
}

TEST(ProtectedBecoming, LikewiseInATreeThatIsRemembered) {
  for (const auto& row : rows()) expect_suspects_in_remembered_tree(row);
}

// Only so many are kept, and a command may have made more, by which the whole tree is a repository.
TEST(ProtectedBecoming, TheRepositoryOfTheTreeIsKeptBeforeAllOthers) {
  Tree tree;
  tree.repository(".git");
  tree.make("objects");
  tree.make("refs");
  write_head(tree, ".");
  for (unsigned bits = 0; bits < 64; ++bits) {
    std::string name = "config";
    for (size_t i = 0; i < name.size(); ++i)
      if ((bits >> i & 1U) != 0) name[i] = static_cast<char>(name[i] - 'a' + 'A');
    tree.write(name, "[user]\n\tname = x\n");
    tree.write(".git/" + name, "[user]\n\tname = x\n");
  }
  const TreeFacts found = tree.before();
  for (const char* name : {"/.git/config", "/.git/hooks"}) {
    const auto is_kept = [&](const ProtectedFact& fact) {
      return fact.kept && fact.file.path == tree.root() + name;
    };
    EXPECT_TRUE(std::any_of(found.files.begin(), found.files.end(), is_kept)) << name;
  }
}

// Hooks by the operator's own word, in each repository.
TEST(ProtectedBecoming, HooksOfARepositoryInEveryWayThatItIsOne) {
  const WalkRow all[] = {
      {"by its HEAD and its common part",
       nullptr,
       [](Tree& tree) {
         write_part(tree, "x", "");
         std::filesystem::remove(tree.at("x/config.worktree"));
         tree.write("x/tools/hooks/reference-transaction");
       },
       {"x/tools/hooks"}},
      {"whose common part is behind a link and a step up",
       nullptr,
       [](Tree& tree) {
         tree.repository("deep/tools");
         tree.make("deep/d");
         tree.link("deep/d", "lnk");
         write_head(tree, "gd");
         tree.write("gd/commondir", "../lnk/../tools\n");
         tree.write(".git", "gitdir: gd\n");
         tree.write("tools/hooks/pre-commit");
       },
       {"tools/hooks"}},
  };
  for (const auto& row : all) {
    Tree tree;
    tree.configure("[core]\n\thooksPath = tools/hooks\n");
    const TreeFacts known = tree.before();
    Tree::let_the_clock_tick();
    const ChangeTime since = change_time_now();
    row.command(tree);
    EXPECT_EQ(paths_of(tree.after(known, since)), row.suspects) << row.what;
  }
}

// A directory of sources with such names may hold projects of the user's.
TEST(ProtectedBecoming, ARepositoryAmongSourcesThatLookLikeACommonPartIsKnown) {
  Tree tree;
  for (const char* name : {"src/objects/p/.git", "src/logs/p/.git"}) {
    tree.repository(name);
    tree.write(std::string(name) + "/config", evil_config);
  }
  tree.make("src/refs");
  Tree::let_the_clock_tick();
  const auto known = tree.before();
  EXPECT_EQ(paths_of(tree.after(known, change_time_now())), std::vector<std::string>{});
}

}  // namespace
}  // namespace cloche
