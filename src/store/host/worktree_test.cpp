// Which git directory belongs to a worktree. The pointer in the workspace may be forged by whatever ran there
// before.
#include "store/host/worktree.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace cloche {
namespace {

namespace fs = std::filesystem;

class Worktree : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(path_.data()), nullptr);
    path_ = fs::canonical(path_).string();
    make_repository("repository/.git");
    fs::create_directories(path_ + "/tree");
    link_worktree("repository/.git/worktrees/tree", "tree");
  }
  void TearDown() override { fs::remove_all(path_); }

  void make_repository(const std::string& git) const {
    for (const char* name : {"/objects", "/refs", "/worktrees"})
      fs::create_directories(path_ + "/" + git + name);
    write(git + "/HEAD", "ref: refs/heads/main\n");
    write(git + "/config", "[core]\n");
  }
  // As `git worktree add` does it: each side names the other.
  void link_worktree(const std::string& admin, const std::string& tree) const {
    fs::create_directories(path_ + "/" + admin);
    write(admin + "/gitdir", path_ + "/" + tree + "/.git\n");
    write(admin + "/commondir", "../..\n");
    write(admin + "/HEAD", "ref: refs/heads/branch\n");
    write(tree + "/.git", "gitdir: " + path_ + "/" + admin + "\n");
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ + "/" + name) << text;
  }
  std::optional<FileFact> found(const std::string& tree = "tree") const {
    auto git = written_too(tree);
    return git ? std::optional(git->common) : std::nullopt;
  }
  std::optional<WorktreeGit> written_too(const std::string& tree = "tree") const {
    return find_worktree_git({.kind = FileFact::Kind::directory, .path = path_ + "/" + tree});
  }
  std::vector<std::string> written() const {
    std::vector<std::string> names;
    const auto git = written_too();
    for (const auto& place : git->written)
      names.push_back(place.path.substr((path_ + "/repository/.git/").size()));
    return names;
  }

  std::string path_ = testing::TempDir() + "cloche-unit-XXXXXX";
};

TEST_F(Worktree, FindsItsRepository) {
  const auto common = found();
  ASSERT_TRUE(common);
  EXPECT_EQ(common->path, path_ + "/repository/.git");
  EXPECT_EQ(common->kind, FileFact::Kind::directory);
  EXPECT_NE(common->inode, 0U);
  EXPECT_EQ(common->uid, ::geteuid());
}

TEST_F(Worktree, WhatACommitWrites) {
  EXPECT_EQ(written(), (std::vector<std::string>{"objects", "refs", "worktrees/tree"}));
  fs::create_directories(path_ + "/repository/.git/logs");
  EXPECT_EQ(written(), (std::vector<std::string>{"objects", "refs", "logs", "worktrees/tree"}));
  fs::remove_all(path_ + "/repository/.git/logs");
  fs::create_directory_symlink(path_, path_ + "/repository/.git/logs");
  EXPECT_EQ(written(), (std::vector<std::string>{"objects", "refs", "worktrees/tree"})) << "no link";
}

TEST_F(Worktree, ACommitWritesNothingOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: only root can give files away";
  ASSERT_EQ(::chown((path_ + "/repository/.git/refs").c_str(), 1, 1), 0);
  EXPECT_EQ(written(), (std::vector<std::string>{"objects", "worktrees/tree"})) << "another user's";
  ASSERT_EQ(::chown((path_ + "/repository/.git").c_str(), 1, 1), 0);
  EXPECT_TRUE(written().empty());
}

TEST_F(Worktree, PointersMayBeRelative) {
  write("tree/.git", "gitdir: ../repository/.git/worktrees/tree\n");
  EXPECT_TRUE(found());
  write("repository/.git/worktrees/tree/gitdir", "../../../../tree/.git\n");
  ASSERT_TRUE(found());
  EXPECT_EQ(found()->path, path_ + "/repository/.git");
}

TEST_F(Worktree, PointersMayLackTheirNewlineOrHaveAnother) {
  write("tree/.git", "gitdir: " + path_ + "/repository/.git/worktrees/tree");
  EXPECT_TRUE(found());
  write("tree/.git", "gitdir: " + path_ + "/repository/.git/worktrees/tree\r\n");
  EXPECT_TRUE(found());
}

TEST_F(Worktree, AnOrdinaryRepositoryIsNone) {
  fs::remove(path_ + "/tree/.git");
  EXPECT_FALSE(found()) << "no .git at all";
  fs::create_directory(path_ + "/tree/.git");
  EXPECT_FALSE(found()) << "a directory";
}

// The workspace names a repository that does not name it back.
TEST_F(Worktree, AForgedPointerIsNotBelieved) {
  fs::create_directories(path_ + "/forged");
  write("forged/.git", "gitdir: " + path_ + "/repository/.git/worktrees/tree\n");
  EXPECT_FALSE(found("forged")) << "the back-pointer names another worktree";
  for (const char* target : {"/repository/.git", "/repository/.git/worktrees", "/repository/.git/objects",
                             "/repository", "", "/nowhere"}) {
    write("forged/.git", "gitdir: " + path_ + target + "\n");
    EXPECT_FALSE(found("forged")) << target;
  }
  for (const char* text : {"", "gitdir:", "gitdir: ", "gitdir: \n", "gitdir: /\n", "gitdir: .\n",
                           "GITDIR: /x\n", "gitdir:/x\n", "/x\n"}) {
    write("forged/.git", text);
    EXPECT_FALSE(found("forged")) << text;
  }
}

TEST_F(Worktree, TheBackPointerMustNameThisVeryFile) {
  const std::string back = "repository/.git/worktrees/tree/gitdir";
  for (const std::string& text :
       {std::string(), std::string("\n"), std::string("/\n"), path_ + "/absent/.git\n"}) {
    write(back, text);
    EXPECT_FALSE(found()) << text;
  }
  write(back, path_ + "/tree\n");
  EXPECT_FALSE(found()) << "the directory is not the pointer";
  fs::remove(path_ + "/" + back);
  EXPECT_FALSE(found()) << "no back-pointer";
  write(back, path_ + "/tree/.git\n");
  EXPECT_TRUE(found());
}

TEST_F(Worktree, APointerThatIsALinkIsNotFollowed) {
  fs::rename(path_ + "/tree/.git", path_ + "/tree/pointer");
  fs::create_symlink("pointer", path_ + "/tree/.git");
  EXPECT_FALSE(found());
  fs::remove(path_ + "/tree/.git");
  fs::create_symlink("/dev/zero", path_ + "/tree/.git");
  EXPECT_FALSE(found());
}

// A link in the way is resolved before anything is judged: what counts is where the directory really is.
TEST_F(Worktree, ALinkedGitDirectoryIsJudgedByWhereItIs) {
  fs::create_directories(path_ + "/decoy/worktrees");
  fs::create_directory_symlink(path_ + "/repository/.git/worktrees/tree", path_ + "/decoy/worktrees/tree");
  write("tree/.git", "gitdir: " + path_ + "/decoy/worktrees/tree\n");
  ASSERT_TRUE(found());
  EXPECT_EQ(found()->path, path_ + "/repository/.git") << "never the directory around the link";
  fs::create_directories(path_ + "/elsewhere/tree");
  write("elsewhere/tree/gitdir", path_ + "/tree/.git\n");
  fs::remove(path_ + "/decoy/worktrees/tree");
  fs::create_directory_symlink(path_ + "/elsewhere/tree", path_ + "/decoy/worktrees/tree");
  EXPECT_FALSE(found()) << "it only looks like one of its worktrees";
}

TEST_F(Worktree, WhatLiesInTheWorkspaceIsVisibleAnyway) {
  make_repository("tree/inner");
  link_worktree("tree/inner/worktrees/tree", "tree");
  EXPECT_FALSE(found());
}

TEST_F(Worktree, AnEndlessPointerIsNone) {
  write("tree/.git", "gitdir: " + std::string(100'000, 'x'));
  EXPECT_FALSE(found());
}

// As `git submodule add` does it: the git directory lies in the one of the repository around, and its
// configuration has the files in the workspace.
class Submodule : public Worktree {
 protected:
  void SetUp() override {
    Worktree::SetUp();
    fs::create_directories(path_ + "/repository/deps/lib");
    make_repository(module);
    write("repository/deps/lib/.git", "gitdir: ../../.git/modules/deps/lib\n");
    say_worktree("../../../../deps/lib");
  }
  void say_worktree(const std::string& tree) const {
    write(module + "/config", "[core]\n\tworktree = " + tree + "\n");
  }
  std::optional<WorktreeGit> git() const { return written_too("repository/deps/lib"); }

  const std::string module = "repository/.git/modules/deps/lib";
};

TEST_F(Submodule, AllOfItsGitDirectoryIsWritten) {
  const auto found = git();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->common.path, path_ + "/" + module);
  ASSERT_EQ(found->written.size(), 1U);
  EXPECT_EQ(found->written.front().path, path_ + "/" + module);
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown((path_ + "/" + module).c_str(), 1, 1), 0);
  ASSERT_TRUE(git());
  EXPECT_TRUE(git()->written.empty()) << "another user's";
}

TEST_F(Submodule, ItsConfigurationMustHaveItsFilesHere) {
  for (const std::string& tree : {std::string("../../../../deps"), std::string("/nowhere"), std::string("."),
                                  path_ + "/tree", std::string("~/lib")}) {
    say_worktree(tree);
    EXPECT_FALSE(git()) << tree;
  }
  write(module + "/config", "[core]\n\tbare = false\n");
  EXPECT_FALSE(git()) << "it does not say";
  write(module + "/config.worktree", "[core]\n\tworktree = ../../../../deps/lib\n");
  EXPECT_TRUE(git()) << "git writes it there when that is turned on";
  fs::remove(path_ + "/" + module + "/config.worktree");
  say_worktree(path_ + "/repository/deps/lib");
  EXPECT_TRUE(git());
}

TEST_F(Submodule, ItMustBeAGitDirectoryWhereThoseOfSubmodulesAre) {
  make_repository("other/lib");
  write("other/lib/config", "[core]\n\tworktree = " + path_ + "/repository/deps/lib\n");
  write("repository/deps/lib/.git", "gitdir: " + path_ + "/other/lib\n");
  EXPECT_FALSE(git()) << "not below modules";
  fs::create_directories(path_ + "/decoy/modules");
  fs::create_directory_symlink(path_ + "/other/lib", path_ + "/decoy/modules/lib");
  write("repository/deps/lib/.git", "gitdir: " + path_ + "/decoy/modules/lib\n");
  EXPECT_FALSE(git()) << "it only looks like one";
  fs::remove(path_ + "/decoy/modules/lib");
  fs::rename(path_ + "/other/lib", path_ + "/decoy/modules/lib");
  EXPECT_FALSE(git()) << "in no repository";
  make_repository("decoy");
  EXPECT_TRUE(git()) << "in one of another name";
  write("repository/deps/lib/.git", "gitdir: ../../.git/modules/deps/lib\n");
  EXPECT_TRUE(git());
  fs::remove(path_ + "/" + module + "/HEAD");
  EXPECT_FALSE(git()) << "no HEAD";
}

}  // namespace
}  // namespace cloche
