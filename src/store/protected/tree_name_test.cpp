// Which tree is meant, when a number is used again.
#include "store/protected/tree_name.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/scratch.hpp"
#include "base/sys/sys.hpp"

namespace cloche {
namespace {

std::string name_of(const std::string& path) {
  const auto fd = sys::open(path, O_RDONLY | O_DIRECTORY);
  return fd.ok() ? tree_name(fd.value().get()) : "";
}

TEST(TreeName, StaysWithTheDirectoryWhateverHappensInItAndToItsName) {
  const Scratch scratch;
  const std::string one = scratch.path + "/one";
  const std::string other = scratch.path + "/other";
  ASSERT_EQ(::mkdir(one.c_str(), 0700), 0);
  const std::string name = name_of(one);
  EXPECT_NE(name, "");
  EXPECT_EQ(name.find('/'), std::string::npos);
  ASSERT_EQ(::mkdir((one + "/in").c_str(), 0700), 0);
  ASSERT_EQ(::chmod(one.c_str(), 0755), 0);
  ASSERT_EQ(::rename(one.c_str(), other.c_str()), 0);
  EXPECT_EQ(name_of(other), name);
  EXPECT_NE(name_of(scratch.path), name);
  EXPECT_EQ(tree_name(-1), "");
}

// On file systems that use a number again at once this is the same inode.
TEST(TreeName, IsAnotherForADirectoryThatIsMadeAnew) {
  const Scratch scratch;
  const std::string path = scratch.path + "/tree";
  ASSERT_EQ(::mkdir(path.c_str(), 0700), 0);
  const std::string before = name_of(path);
  ASSERT_EQ(::rmdir(path.c_str()), 0);
  ::usleep(20'000);  // the kernel's clock for files goes in ticks
  ASSERT_EQ(::mkdir(path.c_str(), 0700), 0);
  EXPECT_NE(name_of(path), before);
}

}  // namespace
}  // namespace cloche
