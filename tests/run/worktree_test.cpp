// Git worktrees: the repository a worktree belongs to is shown when it names this worktree, read-only but for
// what a commit writes; and so is a submodule's git directory.
#include <sys/stat.h>

#include "run/fixture.hpp"

namespace cloche::test {
namespace {

class Worktree : public Run {
 protected:
  // scene/main is a repository with a worktree at scene/tree.
  void make_worktree() {
    const Ran ran = outside(R"(set -e; cd ..
git init -q main; cd main; echo one > f; echo unshown > other; git add f; git -c user.name=A -c user.email=a@example.org commit -qm first
git worktree add -q ../tree -b side)");
    ASSERT_TRUE(exited(ran, 0));
  }
  fs::path tree() { return scene().root() / "tree"; }
  fs::path main() { return scene().root() / "main"; }
  // Whatever `.git` in the workspace claims, `path` is not there and the command still runs.
  void expect_not_shown(const fs::path& path) {
    const Ran ran = cloche_shell({}, "ls -A " + path.string() + " 2>/dev/null; cat " + path.string() +
                                         "/secret 2>/dev/null; echo end");
    EXPECT_TRUE(printed(ran, "end\n"));
  }
};
FOR_EVERYONE(Worktree);

TEST_P(Worktree, StatusAndLogWorkInside) {
  NEEDS("git");
  make_worktree();
  const Ran ran = cloche_shell(
      {"--workspace", tree()},
      "git status --short --branch && git log --format=%s && echo two >> f && git diff --stat | tail -1");
  EXPECT_TRUE(printed(ran, "## side\nfirst\n 1 file changed, 1 insertion(+)\n"));
}

TEST_P(Worktree, TheRepositoryKeepsItsOwnAndItsFilesAreNotShown) {
  NEEDS("git");
  make_worktree();
  const std::string common = main() / ".git";
  const Ran ran = cloche_shell({"--workspace", tree()}, "echo x > " + common + "/config; touch " + common +
                                                            "/hooks/post-checkout; ls -A " + main().string());
  EXPECT_TRUE(printed(ran, ".git\n"));
  EXPECT_NE(read_file(common + "/config"), "x\n");
  EXPECT_FALSE(fs::exists(common + "/hooks/post-checkout"));
}

TEST_P(Worktree, CommitsWork) {
  NEEDS("git");
  make_worktree();
  const Ran ran = cloche_shell({"--workspace", tree()}, R"(set -e
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org
echo two > g; git add g; git commit -qm second; git log --format=%s
git checkout -q -b other; echo three > h; git add h; git commit -qm third; git checkout -q side; git merge -q other
git stash list; git log --format=%s -1; git rebase -q --onto HEAD~2 HEAD~1 && git status --short)");
  EXPECT_TRUE(printed(ran, "second\nfirst\nthird\n"));
  const Ran outer = outside(
      "cd ../main && git fsck --no-dangling 2>/dev/null && git log --format=%s side && "
      "git status --short | grep -v other");
  EXPECT_TRUE(contains(outer.out, "third\nfirst\n")) << outer.out << outer.err;
}

TEST_P(Worktree, WhatGitExecutesThereIsNotTheCommands) {
  NEEDS("git");
  make_worktree();
  const std::string common = main() / ".git";
  const std::string own = common + "/worktrees/tree";
  const Ran ran = cloche_shell({"--workspace", tree()}, R"(cd )" + own + R"(
echo /evil > commondir; echo /evil > gitdir; mv commondir c; rm gitdir
printf '[core]\n\tfsmonitor = x\n' > config.worktree
mkdir -p modules/a/objects modules/a/refs modules/a/hooks rebase-merge; echo x > modules/a/hooks/pre-commit
printf '[core]\n\tfsmonitor = x\n' > modules/a/config; echo 'exec ./x' > rebase-merge/git-rebase-todo
mv )" + own + " " + common + "/worktrees/other; echo x > " + common +
                                                            R"(/info/attributes
mv )" + common + "/refs " + common + R"(/gone; echo end)");
  EXPECT_TRUE(contains(ran.out, "end\n")) << ran.err;
  for (const char* gone : {"/config.worktree", "/modules/a/hooks/pre-commit", "/modules/a/config",
                           "/rebase-merge/git-rebase-todo", "/c"})
    EXPECT_FALSE(fs::exists(own + gone)) << gone << ran.err;
  EXPECT_FALSE(fs::exists(common + "/info/attributes"));
  EXPECT_TRUE(fs::exists(common + "/refs"));
  const Ran outer = outside("cat " + own + "/commondir " + own + "/gitdir");
  EXPECT_TRUE(printed(outer, "../..\n" + (tree() / ".git").string() + "\n"));
}

// A bare repository's parts are git's too, though no name on the way says so.
TEST_P(Worktree, NoLinkStaysWhereGitWrites) {
  NEEDS("git");
  make_worktree();
  ASSERT_TRUE(exited(outside("cd ..; git clone -q --bare main bare; mkdir -p bare/logs/refs/heads; "
                             "git -C bare worktree add -q ../leaf -b leaf"),
                     0));
  const fs::path bare = scene().root() / "bare";
  const std::vector<std::string> made = {"logs/refs/heads/x", "refs/heads/y", "objects/z",
                                         "worktrees/leaf/COMMIT_EDITMSG"};
  std::string script = "set -e; cd " + bare.string() + "; ";
  for (const auto& name : made) script += "ln -s /x " + name + "; ";
  const Ran ran = cloche_shell({"--workspace", scene().root() / "leaf"}, script + "echo end");
  EXPECT_TRUE(contains(ran.out, "end\n")) << ran.err;
  for (const auto& name : made)
    EXPECT_EQ(fs::symlink_status(bare / name).type(), fs::file_type::not_found) << name << ran.err;
  EXPECT_TRUE(contains(ran.err, "git writes through it")) << ran.err;
}

TEST_P(Worktree, AReadOnlyProfileWritesNothingThere) {
  NEEDS("git");
  make_worktree();
  const std::string common = main() / ".git";
  const Ran ran = cloche_shell({"--workspace", tree(), "--profile", "readonly"},
                               "for d in objects refs logs worktrees/tree; do touch " + common +
                                   "/$d/new 2>/dev/null || echo refused; done");
  EXPECT_TRUE(printed(ran, "refused\nrefused\nrefused\nrefused\n"));
}

TEST_P(Worktree, AForgedPointerToAnothersWorktreeShowsNothing) {
  NEEDS("git");
  make_worktree();
  scene().write("main/.git/secret", "do not show\n");
  file(".git", "gitdir: " + (main() / ".git/worktrees/tree").string() + "\n");
  expect_not_shown(main() / ".git");
}

// The git directory of a submodule is its own workspace's, and no other workspace's.
TEST_P(Worktree, OfASubmoduleAReadOnlyProfileWritesNothingAndOthersSeeNothing) {
  NEEDS("git");
  make_worktree();
  ASSERT_TRUE(exited(outside("set -e; cd ..; git init -q super; cd super; "
                             "git -c protocol.file.allow=always submodule --quiet add ../main lib"),
                     0));
  const fs::path module = scene().root() / "super/.git/modules/lib";
  const Ran ran = cloche_shell(
      {"--workspace", scene().root() / "super/lib", "--profile", "readonly"},
      "git log --format=%s; touch " + module.string() + "/new 2>/dev/null || echo refused; ls -A ../.git ..");
  EXPECT_TRUE(printed(ran, "first\nrefused\n..:\n.git\nlib\n\n../.git:\nmodules\n"));
  scene().write("super/.git/modules/lib/secret", "do not show\n");
  file(".git", "gitdir: " + module.string() + "\n");
  expect_not_shown(module);
}

TEST_P(Worktree, AForgedPointerToAnyDirectoryShowsNothing) {
  const auto hidden = secret().parent_path();
  file(".git", "gitdir: " + hidden.string() + "\n");
  expect_not_shown(hidden);
  file(".git", "gitdir: ../private\n");
  expect_not_shown(hidden);
}

TEST_P(Worktree, AGitDirectoryOfTheWorkspacesOwnMakingShowsNothing) {
  // Both pointers agree, but both are written by whoever owns the workspace.
  const auto hidden = secret().parent_path();
  file(".git", "gitdir: " + (workspace() / "fake").string() + "\n");
  file("fake/gitdir", (workspace() / ".git").string() + "\n");
  file("fake/commondir", hidden.string() + "\n");
  file("fake/HEAD", "ref: refs/heads/main\n");
  expect_not_shown(hidden);
  file("fake/commondir", "../../private\n");
  expect_not_shown(hidden);
}

TEST_P(Worktree, AGitLinkShowsNothing) {
  const auto hidden = secret().parent_path();
  fs::create_directory_symlink(hidden, workspace() / ".git");
  expect_not_shown(hidden);
}

TEST_P(Worktree, NonsenseInTheGitFileIsNotInTheWay) {
  for (const std::string& text :
       {std::string(), std::string("gitdir:"), std::string("gitdir: \n"), std::string("gitdir: /\n"),
        std::string("gitdir: ") + std::string(10000, 'x'), std::string(1 << 20, '\0'),
        std::string("gitdir: /proc/self\n")}) {
    file(".git", text);
    EXPECT_TRUE(printed(cloche_run({}, {"echo", "fine"}), "fine\n")) << text.substr(0, 40);
  }
  fs::remove(workspace() / ".git");
  ASSERT_EQ(mkfifo((workspace() / ".git").c_str(), 0666), 0);
  EXPECT_TRUE(printed(cloche_run({}, {"echo", "fine"}, {.deadline = std::chrono::seconds(10)}), "fine\n"));
}

}  // namespace
}  // namespace cloche::test
