// Growth of a directory, on a file system in memory where possible: there no other process writes meanwhile.
#include "confine/watch/disk_watch.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/sys/sys.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t mebi = 1ULL << 20;

class DiskWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = (::access("/dev/shm", W_OK) == 0 ? "/dev/shm/" : testing::TempDir()) + "cloche-unit-XXXXXX";
    ASSERT_NE(::mkdtemp(root_.data()), nullptr);
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& name, uint64_t bytes) const {
    std::ofstream(root_ + "/" + name) << std::string(bytes, 'x');
  }

  std::string root_;
};

TEST_F(DiskWatchTest, SaysNothingWhileNothingGrows) {
  write("before", 4 * mebi);
  DiskWatch watch({{root_}}, mebi, 10);
  EXPECT_FALSE(watch.beyond_limit(-1)) << "what was there before is not the command's";
  write("small", mebi / 2);
  EXPECT_FALSE(watch.beyond_limit(-1));
}

TEST_F(DiskWatchTest, SeesBytesBeyondTheLimit) {
  DiskWatch watch({{root_}}, mebi, 1000);
  write("one", 3 * mebi / 4);
  EXPECT_FALSE(watch.beyond_limit(-1));
  fs::create_directories(root_ + "/deep/er");
  write("deep/er/two", 3 * mebi / 4);
  const auto growth = watch.beyond_limit(-1);
  ASSERT_TRUE(growth);
  EXPECT_GE(growth->bytes, 3 * mebi / 2);
  EXPECT_LT(growth->bytes, 2 * mebi);
}

TEST_F(DiskWatchTest, SeesFilesBeyondTheLimit) {
  DiskWatch watch({{root_}}, 100 * mebi, 20);
  for (int i = 0; i < 15; ++i) write(std::to_string(i), 0);
  EXPECT_FALSE(watch.beyond_limit(-1));
  for (int i = 0; i < 15; ++i) fs::create_directory(root_ + "/d" + std::to_string(i));
  const auto growth = watch.beyond_limit(-1);
  ASSERT_TRUE(growth) << "directories are files too";
  EXPECT_GE(growth->files, 30U);
}

TEST_F(DiskWatchTest, ForgivesWhatWasDeletedAgain) {
  DiskWatch watch({{root_}}, mebi, 1000);
  write("file", 3 * mebi);
  ASSERT_TRUE(watch.beyond_limit(-1));
  fs::remove(root_ + "/file");
  EXPECT_FALSE(watch.beyond_limit(-1));
}

TEST_F(DiskWatchTest, CountsAFileOnceHoweverManyNamesItHas) {
  DiskWatch watch({{root_}}, mebi, 1000);
  write("file", 3 * mebi);
  for (int i = 0; i < 5; ++i) fs::create_hard_link(root_ + "/file", root_ + "/name" + std::to_string(i));
  const auto growth = watch.beyond_limit(-1);
  ASSERT_TRUE(growth);
  EXPECT_LT(growth->bytes, 4 * mebi);
}

// Another process fills the disk beside the workspace: none of the command's business.
TEST_F(DiskWatchTest, BlamesTheCommandForItsOwnDirectoryAlone) {
  fs::create_directory(root_ + "/workspace");
  DiskWatch watch({{root_ + "/workspace"}}, mebi, 10);
  write("beside", 4 * mebi);
  EXPECT_FALSE(watch.beyond_limit(-1));
  write("workspace/own", mebi / 4);
  EXPECT_FALSE(watch.beyond_limit(-1));
}

TEST_F(DiskWatchTest, DoesNotFollowLinksOut) {
  fs::create_directory(root_ + "/workspace");
  DiskWatch watch({{root_ + "/workspace"}}, mebi, 10);
  write("beside", 4 * mebi);
  fs::create_directory_symlink(root_, root_ + "/workspace/out");
  fs::create_symlink(root_ + "/beside", root_ + "/workspace/file");
  EXPECT_FALSE(watch.beyond_limit(-1));
}

// A table of processes with one process in it, a thread of which has a file open that has no name any more.
TEST_F(DiskWatchTest, SeesAFileThatIsDeletedAndStillOpen) {
  fs::create_directories(root_ + "/workspace");
  std::string table = testing::TempDir() + "cloche-unit-XXXXXX";
  ASSERT_NE(::mkdtemp(table.data()), nullptr);
  fs::create_directories(table + "/17/task/18/fd");
  DiskWatch watch({{root_ + "/workspace"}}, mebi, 1000);
  write("workspace/gone", 4 * mebi);
  const auto open_file = sys::open(root_ + "/workspace/gone", O_RDONLY);
  fs::remove(root_ + "/workspace/gone");
  fs::create_symlink("/proc/self/fd/" + std::to_string(open_file.value().get()), table + "/17/task/18/fd/3");
  const auto processes = sys::open(table, O_RDONLY | O_DIRECTORY);
  EXPECT_FALSE(watch.beyond_limit(-1)) << "without the table it cannot be seen";
  EXPECT_TRUE(watch.beyond_limit(processes.value().get()));
  fs::remove_all(table);
}

TEST_F(DiskWatchTest, AddsUpSeveralDirectories) {
  fs::create_directories(root_ + "/a");
  fs::create_directories(root_ + "/b");
  DiskWatch watch({{root_ + "/a"}, {root_ + "/b"}}, mebi, 1000);
  write("a/file", 3 * mebi / 4);
  EXPECT_FALSE(watch.beyond_limit(-1));
  write("b/file", 3 * mebi / 4);
  EXPECT_TRUE(watch.beyond_limit(-1));
}

// Too deep to be walked. In a layer the command alone can have put something there; in a tree of the host's
// it may be anybody's, and so may what the disk has lost.
TEST_F(DiskWatchTest, ChargesForWhatIsHiddenInALayerAlone) {
  fs::create_directories(root_ + "/tree");
  DiskWatch host({{root_ + "/tree"}}, mebi, 1000);
  DiskWatch layer({{root_ + "/tree", TreeOf::call}}, mebi, 1000);
  std::string deep = "tree/";
  for (int i = 0; i < 250; ++i) deep += "d/";
  fs::create_directories(root_ + "/" + deep);
  write("beside", 4 * mebi);
  EXPECT_FALSE(host.beyond_limit(-1));
  EXPECT_TRUE(layer.beyond_limit(-1));
}

// A process that the command has started does not let its descriptors be looked at: what it holds may be
// nothing, and in a tree of the host's it counts for nothing.
TEST_F(DiskWatchTest, ChargesForAClosedProcessInALayerAlone) {
  fs::create_directories(root_ + "/tree");
  std::string table = testing::TempDir() + "cloche-unit-XXXXXX";
  ASSERT_NE(::mkdtemp(table.data()), nullptr);
  fs::create_directories(table + "/17");
  fs::create_symlink("maps", table + "/17/maps");  // opening it fails, and not because the process has ended
  DiskWatch host({{root_ + "/tree"}}, mebi, 1000);
  DiskWatch layer({{root_ + "/tree", TreeOf::call}}, mebi, 1000);
  write("beside", 4 * mebi);
  const auto processes = sys::open(table, O_RDONLY | O_DIRECTORY);
  EXPECT_FALSE(host.beyond_limit(processes.value().get()));
  EXPECT_TRUE(layer.beyond_limit(processes.value().get()));
  fs::remove_all(table);
}

TEST_F(DiskWatchTest, ALayerIsNotChargedForWhatOthersWrite) {
  fs::create_directories(root_ + "/layer/some/where");
  DiskWatch watch({{root_ + "/layer", TreeOf::call}}, mebi, 10);
  write("layer/own", mebi / 2);
  for (int i = 0; i < 20; ++i) write("beside" + std::to_string(i), mebi);
  EXPECT_FALSE(watch.beyond_limit(-1));
  write("layer/more", mebi);
  EXPECT_TRUE(watch.beyond_limit(-1)) << "what others took before is no room for the command";
}

// What is looked at again is what came since: others that go on writing do not make every look a walk.
TEST_F(DiskWatchTest, GrowthIsSeenHoweverOthersFreeSpace) {
  fs::create_directories(root_ + "/layer");
  DiskWatch watch({{root_ + "/layer", TreeOf::call}}, mebi, 1000);
  write("beside", 4 * mebi);
  EXPECT_FALSE(watch.beyond_limit(-1));
  fs::remove(root_ + "/beside");
  EXPECT_FALSE(watch.beyond_limit(-1));
  write("layer/own", 2 * mebi);
  EXPECT_TRUE(watch.beyond_limit(-1));
}

TEST_F(DiskWatchTest, ADirectoryThatIsNotThereIsNotWatched) {
  DiskWatch watch({{root_ + "/absent"}}, 1, 1);
  EXPECT_FALSE(watch.beyond_limit(-1));
}

using SizeWatchTest = DiskWatchTest;

TEST_F(SizeWatchTest, CountsWhatWasThereBefore) {
  write("before", 5 * mebi);
  SizeWatch watch(root_, 8 * mebi);
  EXPECT_FALSE(watch.beyond_limit());
  write("more", 5 * mebi);
  EXPECT_TRUE(watch.beyond_limit());
}

TEST_F(SizeWatchTest, WhatIsTooLargeAlreadyIsTooLarge) {
  write("before", 10 * mebi);
  SizeWatch watch(root_, 8 * mebi);
  EXPECT_TRUE(watch.beyond_limit());
  fs::remove(root_ + "/before");
  EXPECT_FALSE(watch.beyond_limit());
}

// Space that another process has given back hides what was taken; a walk does not ask for it.
TEST_F(SizeWatchTest, AWalkSeesAllOfIt) {
  SizeWatch watch(root_, 1 * mebi);
  write("before", 2 * mebi);
  EXPECT_TRUE(watch.beyond_limit_exactly());
  fs::remove(root_ + "/before");
  EXPECT_FALSE(watch.beyond_limit_exactly());
}

}  // namespace
}  // namespace cloche
