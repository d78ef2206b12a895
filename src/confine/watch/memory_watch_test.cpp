// The passes of the memory watch over a table of processes that the test writes.
#include "confine/watch/memory_watch.hpp"

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
constexpr uint64_t no_limit =
    1ULL << 60;  // more than any host can lose, so that the deep pass stays out of it

class MemoryWatchTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(::mkdtemp(path_.data()), nullptr); }
  void TearDown() override { fs::remove_all(path_); }

  void add_process(const std::string& number, uint64_t resident_bytes, uint64_t anonymous_share_kib,
                   uint64_t shared_share_kib) const {
    fs::create_directories(path_ + "/" + number + "/fd");
    std::ofstream(path_ + "/" + number + "/statm")
        << 999999 << " " << resident_bytes / 4096 << " 7 7 0 7 0\n";
    std::ofstream(path_ + "/" + number + "/smaps_rollup")
        << "00400000-7fff0000 ---p 00000000 00:00 0                          [rollup]\nRss:            "
           "999999 kB\n"
        << "Pss:            888888 kB\nPss_Anon:       " << anonymous_share_kib
        << " kB\nPss_File:        77777 kB\n"
        << "Pss_Shmem:      " << shared_share_kib << " kB\nSwapPss:             16 kB\n";
  }
  uint64_t sample(MemoryWatch& watch, uint64_t in_files = 0) const {
    const auto table = sys::open(path_, O_RDONLY | O_DIRECTORY);
    return watch.sample(table.value().get(), in_files);
  }

  std::string path_ = testing::TempDir() + "cloche-unit-XXXXXX";
};

TEST_F(MemoryWatchTest, TheCheapPassAddsResidentPagesUp) {
  add_process("1", 2 * mebi, 1, 1);
  add_process("17", 3 * mebi, 1, 1);
  fs::create_directories(path_ + "/self");
  MemoryWatch watch(no_limit);
  EXPECT_EQ(sample(watch), 5 * mebi);
  EXPECT_EQ(watch.peak_bytes(), 5 * mebi);
  EXPECT_EQ(watch.limit_bytes(), no_limit);
}

TEST_F(MemoryWatchTest, OverTheLimitTheSharesDecide) {
  add_process("1", 800 * mebi, 1024, 512);
  add_process("2", 800 * mebi, 2048, 0);
  MemoryWatch watch(1000 * mebi);
  EXPECT_EQ(sample(watch), (1024 + 512 + 2048 + 2 * 16) * 1024U)
      << "shared pages once, swap included, files not";
}

// As ordinary users we may not look into a process that made itself undumpable.
TEST_F(MemoryWatchTest, WhoCannotBeLookedAtCountsWhole) {
  add_process("1", 600 * mebi, 1024, 0);
  add_process("2", 800 * mebi, 1024, 0);
  fs::remove(path_ + "/2/smaps_rollup");
  MemoryWatch watch(1000 * mebi);
  EXPECT_EQ(sample(watch), 800 * mebi + (1024 + 16) * 1024U);
}

// The kernel shows nothing under the name of a process whose first thread has ended.
TEST_F(MemoryWatchTest, OtherThreadsSpeakForAFirstThatHasEnded) {
  add_process("7/task/8", 5 * mebi, 1, 1);
  fs::create_directories(path_ + "/7/task/7");
  for (const char* ended : {"/7/statm", "/7/task/7/statm"}) std::ofstream(path_ + ended) << "0 0 0 0 0 0 0\n";
  MemoryWatch watch(no_limit);
  EXPECT_EQ(sample(watch), 5 * mebi);
}

TEST_F(MemoryWatchTest, ThePeakStays) {
  MemoryWatch watch(no_limit);
  add_process("5", 4 * mebi, 1, 1);
  sample(watch);
  fs::remove_all(path_ + "/5");
  EXPECT_EQ(sample(watch), 0U);
  EXPECT_EQ(watch.peak_bytes(), 4 * mebi);
}

TEST_F(MemoryWatchTest, AProcessThatEndsMeanwhileCountsNothing) {
  fs::create_directories(path_ + "/9");
  std::ofstream(path_ + "/8");
  MemoryWatch watch(no_limit);
  EXPECT_EQ(sample(watch), 0U);
}

TEST_F(MemoryWatchTest, FilesInMemoryCount) {
  add_process("1", 2 * mebi, 1, 1);
  MemoryWatch watch(no_limit);
  EXPECT_EQ(sample(watch, 8 * mebi), 10 * mebi);
}

}  // namespace
}  // namespace cloche
