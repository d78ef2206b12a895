// Git worktrees: the repository a worktree belongs to is shown read-only, but only when it names this
// worktree.
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

TEST_P(Worktree, TheRepositoryIsReadOnlyAndItsFilesAreNotShown) {
  NEEDS("git");
  make_worktree();
  const std::string common = main() / ".git";
  const Ran ran =
      cloche_shell({"--workspace", tree()},
                   "touch " + common + "/new 2>/dev/null || echo refused; echo x > " + common +
                       "/config 2>/dev/null || echo refused;"
                       "touch " +
                       common + "/hooks/post-checkout 2>/dev/null || echo refused; ls -A " + main().string());
  EXPECT_TRUE(printed(ran, "refused\nrefused\nrefused\n.git\n"));
}

TEST_P(Worktree, AForgedPointerToAnothersWorktreeShowsNothing) {
  NEEDS("git");
  make_worktree();
  scene().write("main/.git/secret", "do not show\n");
  file(".git", "gitdir: " + (main() / ".git/worktrees/tree").string() + "\n");
  expect_not_shown(main() / ".git");
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
