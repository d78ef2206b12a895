// What the names in one directory are to the protected set.
#include "policy/protected/protected_directory.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cloche {
namespace {

struct Row {
  const char* what;
  GitPart part;
  std::vector<const char*> names;  // "x/" is a directory, "x@" a link
  std::vector<std::string> members;
  bool is_git = false;
};

std::vector<std::string> members_of(const Row& row, bool& is_git) {
  DirectoryNames names({}, row.part);
  for (std::string_view name : row.names) {
    const char last = name.back();
    const bool marked = last == '/' || last == '@';
    names.add(marked ? name.substr(0, name.size() - 1) : name, last == '/'   ? NameKind::directory
                                                               : last == '@' ? NameKind::link
                                                                             : NameKind::other);
  }
  names.settle();
  is_git = names.is_git_directory();
  std::vector<std::string> found;
  for (const auto& member : names.members()) found.push_back(member.name);
  std::sort(found.begin(), found.end());
  return found;
}

TEST(ProtectedDirectory, Members) {
  const Row rows[] = {
      {"an ordinary one", GitPart::none, {"a", "config", "hooks/", "refs/", "HEAD"}, {}},
      {"names of the set", GitPart::none, {".envrc", ".vscode/", "src/"}, {".envrc", ".vscode"}},
      {"a link on the way", GitPart::none, {".config@", ".yarn@", "src@"}, {".config", ".yarn"}},
      {"a directory on the way", GitPart::none, {".config/", ".yarn/"}, {}},
      {"a file on the way", GitPart::none, {".config"}, {}},
      {".git", GitPart::dot_git, {"config", "hooks/", "HEAD"}, {"config", "hooks"}, true},
      {".git of something else", GitPart::dot_git, {"commondir", "info@"}, {"commondir", "info"}, true},
      {"what git does not keep in it",
       GitPart::dot_git,
       {"safe/", "x.sh", "COMMIT_EDITMSG", "MERGE_HEAD", "BISECT_LOG", "config.lock", "x.lock", "packed-refs",
        "lfs/"},
       {"safe", "x.lock", "x.sh"},
       true},
      {"what would be data of git's but for its end",
       GitPart::dot_git,
       {"COMMIT_EDITMSG:x.sh", "lfs:x/", "MERGE_HEAD. "},
       {"COMMIT_EDITMSG:x.sh", "MERGE_HEAD. ", "lfs:x"},
       true},
      {"what git copies and overwrites by",
       GitPart::dot_git,
       {"index", "sharedindex.0123", "sharedindex_x1", "Merge_RR", "rr-cache/"},
       {"Merge_RR", "index", "sharedindex.0123"},
       true},
      {"the same of a worktree",
       GitPart::worktree,
       {"index", "MERGE_RR", "HEAD", "x"},
       {"MERGE_RR", "index", "x"}},
      {"a bare repository",
       GitPart::none,
       {"HEAD", "objects/", "refs/", "hooks/", "config"},
       {"config", "hooks"},
       true},
      {"its parts as links",
       GitPart::none,
       {"HEAD", "objects@", "refs@", "hooks@", "modules@"},
       {"hooks", "modules", "objects", "refs"},
       true},
      {"links in one", GitPart::dot_git, {"HEAD@", "index@", "x@", "logs/"}, {"HEAD", "index", "x"}, true},
      {"links below one", GitPart::inside, {"main@", "topic", "more/"}, {"main"}},
      {"links of a worktree's", GitPart::worktree, {"HEAD@", "index@"}, {"HEAD", "index"}},
      {"links of one by what is in it", GitPart::none, {"HEAD", "commondir", "x@"}, {"commondir", "x"}},
      {"links elsewhere", GitPart::none, {"HEAD@", "index@", "objects/"}, {}},
      {"in other letters",
       GitPart::none,
       {"Head", "Objects/", "REFS/", "Hooks/", "CONFIG"},
       {"CONFIG", "Hooks"},
       true},
      {"one of two spellings", GitPart::dot_git, {"CONFIG", "config"}, {"CONFIG", "config"}, true},
      {"a worktree's",
       GitPart::none,
       {"HEAD", "commondir", "config.worktree"},
       {"commondir", "config.worktree"}},
      {"a worktree's by its place", GitPart::worktree, {"config.worktree"}, {"config.worktree"}},
      {"info", GitPart::info, {"attributes", "exclude"}, {"attributes"}},
      {"a submodule's to be", GitPart::modules, {"Config", "HEAD", "hooks/", "lib/"}, {"Config"}},
      {"its hooks", GitPart::module_hooks, {"pre-commit", "own", "x.sample", "d/"}, {"own", "pre-commit"}},
      {"a submodule that is named hooks",
       GitPart::module_hooks,
       {"objects/", "refs/", "hooks/", "HEAD", "config", "index", "description", "packed-refs"},
       {"config", "hooks", "index"},
       true},
      {"hooks that look like one",
       GitPart::module_hooks,
       {"HEAD", "objects/", "refs/", "pre-commit", "update"},
       {"pre-commit", "update"},
       true},
      {"remotes of old", GitPart::dot_git, {"remotes/", "branches/", "refs/"}, {"branches", "remotes"}, true},
      {"a directory of sources",
       GitPart::none,
       {"objects/", "refs/", "hooks/", "config/", "branches/", "remotes/", "modules@", "info@", "l.ts@"},
       {}},
      {"a common part", GitPart::none, {"objects/", "refs/", "hooks/", "Config"}, {"Config"}},
      {"a common part where only git makes one",
       GitPart::modules,
       {"objects/", "refs/", "hooks/", "config", "info@", "x@"},
       {"config", "hooks", "info", "x"}},
      {"hooks of a common part",
       GitPart::likely_hooks,
       {"update", "Post-Checkout", "pre-later", "pre-push@", "pre-commit/"},
       {"Post-Checkout", "pre-later", "pre-push", "update"}},
      {"sources in a directory of that name",
       GitPart::likely_hooks,
       {"useX.ts", "post-list.ts", "update.ts", "preset", "l.ts@", "pre-commit/", "attributes"},
       {}},
      {"parts that look like a repository",
       GitPart::info,
       {"HEAD", "objects/", "refs/", "attributes"},
       {"attributes"},
       true},
      {"a worktree's that does",
       GitPart::worktree,
       {"HEAD", "objects/", "refs/", "commondir", "gitdir"},
       {"commondir", "gitdir"},
       true},
      {"a rebase that does",
       GitPart::rebase,
       {"HEAD", "objects/", "refs/", "git-rebase-todo", "GIT-rebase-todo", "strategy"},
       {"GIT-rebase-todo", "git-rebase-todo", "strategy"},
       true},
      {"what another program reads there",
       GitPart::dot_git,
       {"lazygit.yml", "gk/"},
       {"gk", "lazygit.yml"},
       true},
      {"likewise elsewhere", GitPart::none, {"lazygit.yml"}, {}},
      {"remotes elsewhere", GitPart::none, {"remotes/", "branches/"}, {}},
      {"a rebase", GitPart::rebase, {"git-rebase-todo", "strategy", "opts"}, {"git-rebase-todo", "strategy"}},
      {"a cherry-pick", GitPart::sequencer, {"todo", "strategy", "opts"}, {"opts"}},
      {"a cherry-pick as a link", GitPart::worktree, {"sequencer@"}, {"sequencer"}},
  };
  for (const auto& row : rows) {
    bool is_git = false;
    EXPECT_EQ(members_of(row, is_git), row.members) << row.what;
    EXPECT_EQ(is_git, row.is_git) << row.what;
  }
}

TEST(ProtectedDirectory, WhatIsAMemberIsNotWalkedInto) {
  DirectoryNames names({}, GitPart::dot_git);
  for (const char* name : {"hooks", "info", "INFO", "objects", "worktrees", "modules"})
    names.add(name, NameKind::directory);
  names.settle();
  std::vector<std::pair<std::string, GitPart>> found;
  for (const auto& sub : names.subdirectories()) found.emplace_back(sub.name, sub.part);
  const std::vector<std::pair<std::string, GitPart>> wanted = {{"info", GitPart::info},
                                                               {"INFO", GitPart::info},
                                                               {"objects", GitPart::objects},
                                                               {"worktrees", GitPart::worktrees},
                                                               {"modules", GitPart::modules}};
  EXPECT_EQ(found, wanted);
}

// Git keeps the submodules of a worktree there.
TEST(ProtectedDirectory, AWorktreesModulesAreThoseOfARepository) {
  for (const bool by_place : {true, false}) {
    DirectoryNames names({}, by_place ? GitPart::worktree : GitPart::none);
    if (!by_place) {
      names.add("HEAD", NameKind::other);
      names.add("commondir", NameKind::other);
    }
    names.add("modules", NameKind::directory);
    names.settle();
    EXPECT_EQ(names.subdirectories().front().part, GitPart::modules) << by_place;
  }
}

TEST(ProtectedDirectory, OfACommonPartOnlyHooksLeadFurther) {
  DirectoryNames names({}, GitPart::none);
  for (const char* name : {"objects", "refs", "Hooks", "info", "modules", "worktrees", "logs"})
    names.add(name, NameKind::directory);
  names.settle();
  EXPECT_TRUE(names.is_common_part());
  for (const auto& sub : names.subdirectories())
    EXPECT_EQ(sub.part, sub.name == "Hooks" ? GitPart::likely_hooks : GitPart::none) << sub.name;
}

// A command that makes names in refs does not make the rest of it an ordinary directory.
TEST(ProtectedDirectory, WhatLiesInAGitDirectory) {
  struct Below {
    const char* what;
    GitPart part;
    const char* name;
    GitPart is;
  };
  const Below table[] = {
      {"its own", GitPart::dot_git, "logs", GitPart::inside},
      {"in other letters", GitPart::dot_git, "LOGS", GitPart::inside},
      {"a checkout's in a bare one", GitPart::none, "main", GitPart::none},
      {"whatever is below", GitPart::inside, "main", GitPart::inside},
      {"a shard of objects", GitPart::objects, "ab", GitPart::inside},
      {"a worktree's", GitPart::worktree, "logs", GitPart::inside},
      {"elsewhere", GitPart::none, "logs", GitPart::inside},  // by the names beside it
  };
  for (const auto& row : table) {
    DirectoryNames names({}, row.part);
    names.add("HEAD", NameKind::other);
    for (const char* name : {"objects", "refs", row.name}) names.add(name, NameKind::directory);
    names.settle();
    EXPECT_EQ(names.subdirectories().back().part, row.is) << row.what;
  }
}

TEST(ProtectedDirectory, AHeadThatIsALink) {
  EXPECT_TRUE(is_symbolic_head("HEAD", "refs/heads/main"));
  EXPECT_FALSE(is_symbolic_head("HEAD", "refs/heads/../../../x"));
  EXPECT_FALSE(is_symbolic_head("HEAD", "/refs/heads/main"));
  EXPECT_FALSE(is_symbolic_head("HEAD", "refs/tags/main"));
  EXPECT_FALSE(is_symbolic_head("HEAD", ""));
  EXPECT_FALSE(is_symbolic_head("index", "refs/heads/main"));
}

TEST(MeaningOfRoot, ComesFromTheWayToIt) {
  struct NameInRoot {
    const char* root;
    const char* name;  // in the root
    bool member;
  };
  const NameInRoot table[] = {
      {"/home/u/.config", "fish", true},
      {"/home/u/.CONFIG", "git", true},
      {"/home/u/.config/app", "fish", false},
      {"/home/u/project", "fish", false},
      {"/", ".envrc", true},
      {"/p/.git", "hooks", true},
      {"/p/.git", "config", true},
      {"/p/.GIT", "commondir", true},
      {"/p/.git", "HEAD", false},
      {"/p/.git/info", "attributes", true},
      {"/p/.git/worktrees/a", "config.worktree", true},
      {"/p/git", "hooks", false},
      {"/p/.claude/worktrees/a", "hooks", false},
  };
  for (const auto& row : table) {
    const RootMeaning meaning = meaning_of_root(row.root);
    EXPECT_EQ(meaning.covered_by, "") << row.root;
    DirectoryNames names(meaning.trail, meaning.part);
    names.add(row.name, NameKind::other);
    names.settle();
    EXPECT_EQ(!names.members().empty(), row.member) << row.root << " " << row.name;
  }
}

TEST(MeaningOfRoot, MayBeThatAllOfItIsInTheSet) {
  for (const char* root : {"/p/.vscode", "/p/.VSCode/sub", "/home/u/.config/nvim/lua", "/p/.git/hooks",
                           "/p/.git/hooks/x", "/p/.claude", "/p/.claude/worktrees", "/p/.claude/skills/a",
                           "/home/u/.ssh", "/p/.claude/worktrees/a/.vscode"})
    EXPECT_NE(meaning_of_root(root).covered_by, "") << root;
  for (const char* root : {"/", "/p", "/p/.git", "/home/u/.config", "/p/.github", "/p/.claude/worktrees/a",
                           "/p/.claude/worktrees/a/src", "/p/worktrees/a"})
    EXPECT_EQ(meaning_of_root(root).covered_by, "") << root;
}

}  // namespace
}  // namespace cloche
