// A memory file system of the host's, whose mount is found beneath a directory as in a view.
#include "confine/watch/tmpfs_watch.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/sys/sys.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

TEST(TmpfsWatch, AddsUpWhatLiesInMemory) {
  constexpr uint64_t mebi = 1ULL << 20;
  std::string directory = "/dev/shm/cloche-unit-XXXXXX";
  if (::mkdtemp(directory.data()) == nullptr) GTEST_SKIP() << "skipped: no writable /dev/shm";
  const auto root = sys::open("/dev", O_PATH | O_DIRECTORY);
  TmpfsWatch watch({"/shm", "/absent"});
  EXPECT_EQ(watch.sample(), 0U) << "nothing is held yet";
  watch.attach(root.value().get());
  const uint64_t before = watch.sample();
  std::ofstream(directory + "/file") << std::string(8 * mebi, 'x');
  EXPECT_GE(watch.sample(), before + 6 * mebi);
  EXPECT_TRUE(watch.end().empty());
  EXPECT_EQ(watch.sample(), 0U) << "let go of";
  fs::remove_all(directory);
}

TEST(TmpfsWatch, ALinkInTheViewLeadsNowhere) {
  std::string view = testing::TempDir() + "cloche-unit-XXXXXX";
  ASSERT_NE(::mkdtemp(view.data()), nullptr);
  fs::create_directory_symlink("/dev/shm", view + "/link");
  const auto root = sys::open(view, O_PATH | O_DIRECTORY);
  TmpfsWatch watch({"/link"});
  watch.attach(root.value().get());
  EXPECT_EQ(watch.sample(), 0U);
  fs::remove_all(view);
}

}  // namespace
}  // namespace cloche
