#include "base/sys/directory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/scratch.hpp"
#include "base/sys/fd.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

void touch(const std::string& path) { std::ofstream(path) << "content"; }

unsigned mode_of(const std::string& path) {
  struct stat seen {};
  EXPECT_EQ(::lstat(path.c_str(), &seen), 0) << path;
  return seen.st_mode & 07777;
}

TEST(Directory, NamesAreSortedAndWithoutDots) {
  const Scratch scratch;
  for (const char* name : {"b", "a", ".hidden", "c with space"}) touch(scratch.path + "/" + name);
  fs::create_directory(scratch.path + "/directory");
  EXPECT_EQ(names_in(scratch.path),
            (std::vector<std::string>{".hidden", "a", "b", "c with space", "directory"}));
  EXPECT_TRUE(names_in(scratch.path + "/directory").empty());
  EXPECT_TRUE(names_in(scratch.path + "/absent").empty());
  EXPECT_TRUE(names_in(scratch.path + "/a").empty()) << "a file is no directory";
}

TEST(Directory, IsOursAloneWhenNobodyElseCanPutAnotherInItsPlace) {
  const Scratch scratch;
  const std::string below = scratch.path + "/a/b/c";
  fs::create_directories(scratch.path + "/a/b");
  EXPECT_TRUE(is_ours_alone(below)) << "not there yet, and the way is ours";
  fs::create_directories(below);
  EXPECT_TRUE(is_ours_alone(below));
  for (unsigned mode : {0770U, 0707U, 0777U}) {
    fs::permissions(scratch.path + "/a", fs::perms(mode));
    EXPECT_FALSE(is_ours_alone(below)) << std::oct << mode;
    EXPECT_EQ(foreign_part(below), scratch.path + "/a");
  }
  fs::permissions(scratch.path + "/a", fs::perms(01777));
  EXPECT_TRUE(is_ours_alone(below)) << "sticky, like /tmp";
  fs::create_directory_symlink(scratch.path + "/a", scratch.path + "/link");
  EXPECT_TRUE(is_ours_alone(scratch.path + "/link/b"));
  fs::permissions(scratch.path + "/a", fs::perms(0777));
  EXPECT_FALSE(is_ours_alone(scratch.path + "/link/b"));
  if (::geteuid() == 0) {
    fs::permissions(scratch.path + "/a", fs::perms(0755));
    ASSERT_EQ(::chown((scratch.path + "/a").c_str(), 65534, 65534), 0);
    EXPECT_FALSE(is_ours_alone(below)) << "another user's";
  }
}

TEST(Directory, PrivateOnesAreMadeWithTheirParents) {
  const Scratch scratch;
  const std::string deep = scratch.path + "/one/two/three";
  const auto before = ::umask(0);
  EXPECT_TRUE(make_private_directories(deep));
  ::umask(before);
  for (const char* part : {"/one", "/one/two", "/one/two/three"})
    EXPECT_EQ(mode_of(scratch.path + part), 0700U);
  EXPECT_TRUE(make_private_directories(deep)) << "again";
}

TEST(Directory, ThoseThatExistKeepTheirMode) {
  const Scratch scratch;
  fs::create_directory(scratch.path + "/open");
  fs::permissions(scratch.path + "/open", fs::perms(0755));
  EXPECT_TRUE(make_private_directories(scratch.path + "/open/inner"));
  EXPECT_EQ(mode_of(scratch.path + "/open"), 0755U);
  EXPECT_EQ(mode_of(scratch.path + "/open/inner"), 0700U);
}

TEST(Directory, NothingIsMadeBelowAFile) {
  const Scratch scratch;
  touch(scratch.path + "/file");
  EXPECT_FALSE(make_private_directories(scratch.path + "/file/below"));
  EXPECT_FALSE(make_private_directories(scratch.path + "/file/below/further"));
}

TEST(RemoveTree, TakesEverythingInside) {
  const Scratch scratch;
  const std::string tree = scratch.path + "/tree";
  fs::create_directories(tree + "/a/b/c");
  touch(tree + "/a/b/c/file");
  touch(tree + "/.hidden");
  ASSERT_EQ(::mkfifo((tree + "/a/fifo").c_str(), 0600), 0);
  for (int i = 0; i < 50; ++i) touch(tree + "/a/b/" + std::to_string(i));
  remove_tree(tree);
  EXPECT_FALSE(fs::exists(tree));
}

// A command of an ordinary user's may have closed what it made.
TEST(RemoveTree, TakesWhatIsClosed) {
  const Scratch scratch;
  const std::string tree = scratch.path + "/tree";
  fs::create_directories(tree + "/a/b/c");
  touch(tree + "/a/b/file");
  for (const char* closed : {"/a/b/c", "/a/b", "/a", ""}) ::chmod((tree + closed).c_str(), 0);
  remove_tree(tree);
  EXPECT_FALSE(fs::exists(tree));
}

// Deeper than there are descriptors, and with names in the way of those that it gives itself.
TEST(RemoveTree, GoesAsDeepAsItMust) {
  const Scratch scratch;
  const std::string tree = scratch.path + "/tree";
  fs::create_directories(tree + "/.removed-0/.removed-1");
  touch(tree + "/.removed-2");
  OwnedFd at(::open(tree.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int depth = 0; depth < 5000; ++depth) {
    ASSERT_EQ(::mkdirat(at.get(), "d", 0700), 0);
    at = OwnedFd(::openat(at.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  remove_tree(tree);
  EXPECT_FALSE(fs::exists(tree));
}

// Each of these leads out of the tree; what it leads to must be there afterwards.
TEST(RemoveTree, NeverFollowsALink) {
  const Scratch scratch;
  const std::string outside = scratch.path + "/outside";
  const std::string tree = scratch.path + "/tree";
  fs::create_directories(outside + "/below");
  touch(outside + "/precious");
  touch(outside + "/below/precious");
  fs::create_directories(tree + "/inner");
  fs::create_directory_symlink(outside, tree + "/to-directory");
  fs::create_directory_symlink("../../outside", tree + "/inner/relative");
  fs::create_symlink(outside + "/precious", tree + "/to-file");
  fs::create_symlink("nowhere", tree + "/dangling");
  fs::create_symlink(".", tree + "/itself");
  remove_tree(tree);
  EXPECT_FALSE(fs::exists(tree));
  EXPECT_TRUE(fs::exists(outside + "/precious"));
  EXPECT_TRUE(fs::exists(outside + "/below/precious"));
}

TEST(RemoveTree, OfALinkRemovesNothingBehindIt) {
  const Scratch scratch;
  fs::create_directory(scratch.path + "/outside");
  touch(scratch.path + "/outside/precious");
  fs::create_directory_symlink(scratch.path + "/outside", scratch.path + "/link");
  remove_tree(scratch.path + "/link");
  EXPECT_TRUE(fs::exists(scratch.path + "/outside/precious"));
}

TEST(RemoveTree, OfNothingIsHarmless) {
  const Scratch scratch;
  remove_tree(scratch.path + "/absent");
  touch(scratch.path + "/file");
  remove_tree(scratch.path + "/file");
  EXPECT_TRUE(fs::exists(scratch.path + "/file")) << "a file is no tree";
}

}  // namespace
}  // namespace cloche
