#include "base/sys/sys.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace cloche::sys {
namespace {

namespace fs = std::filesystem;

struct Scratch {
  std::string path = fs::canonical(testing::TempDir()).string() + "/cloche-unit-XXXXXX";
  Scratch() { EXPECT_NE(::mkdtemp(path.data()), nullptr); }
  ~Scratch() { fs::remove_all(path); }
};

struct Read {
  size_t size;
  size_t most;
  bool fits;
};

TEST(ReadAll, IsBoundedAndNeverAPrefix) {
  const Scratch scratch;
  const Read rows[] = {{0, 0, true},
                       {1, 0, false},
                       {10, 10, true},
                       {11, 10, false},
                       {10, 11, true},
                       {16384, 16384, true},
                       {16385, 16384, false},
                       {100'000, 100'000, true},
                       {100'001, 100'000, false}};
  for (const auto& [size, most, fits] : rows) {
    const std::string path = scratch.path + "/" + std::to_string(size);
    std::ofstream(path) << std::string(size, 'x');
    const auto text = read_file(path, most);
    ASSERT_EQ(text.ok(), fits) << size << " of " << most;
    if (fits) {
      EXPECT_EQ(text.value(), std::string(size, 'x'));
    } else {
      EXPECT_EQ(text.error().number, EFBIG);
      EXPECT_NE(text.error().what.text().find(path), std::string::npos) << text.error().what;
    }
  }
}

TEST(ReadAll, AnEndlessFileIsAnError) {
  const auto text = read_file("/dev/zero", 1 << 20);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().number, EFBIG);
}

TEST(ReadAll, OfWhatCannotBeReadSaysWhich) {
  const Scratch scratch;
  EXPECT_EQ(read_file(scratch.path + "/absent").error().number, ENOENT);
  EXPECT_EQ(read_file(scratch.path).error().number, EISDIR);
  EXPECT_EQ(read_all(-1, 10).error().number, EBADF);
}

TEST(ReadFile, DoesNotWaitForAPipeThatNobodyWrites) {
  const Scratch scratch;
  const std::string fifo = scratch.path + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const auto text = read_file(fifo);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text.value(), "");
}

TEST(ReadFileAt, IsRelativeToTheDirectory) {
  const Scratch scratch;
  std::ofstream(scratch.path + "/name") << "text";
  const auto directory = open(scratch.path, O_PATH | O_DIRECTORY);
  EXPECT_EQ(read_file_at(directory.value().get(), "name").value(), "text");
  EXPECT_EQ(read_file_at(directory.value().get(), "other").error().number, ENOENT);
}

TEST(Open, IsAlwaysCloseOnExec) {
  const auto fd = open("/dev/null", O_RDONLY);
  ASSERT_TRUE(fd.ok());
  EXPECT_EQ(::fcntl(fd.value().get(), F_GETFD), FD_CLOEXEC);
  const auto missing = open("/dev/null/file", O_RDONLY);
  EXPECT_EQ(missing.error().what.text(), "open /dev/null/file: Not a directory");
}

TEST(WriteAll, WritesAllOrSaysWhyNot) {
  const Scratch scratch;
  const std::string bytes(300'000, 'y');
  auto file = open(scratch.path + "/file", O_WRONLY | O_CREAT, 0600);
  EXPECT_TRUE(write_all(file.value().get(), bytes).ok());
  EXPECT_EQ(read_file(scratch.path + "/file", bytes.size()).value(), bytes);
  const auto full = open("/dev/full", O_WRONLY);
  EXPECT_EQ(write_all(full.value().get(), "x").error().number, ENOSPC);
  EXPECT_TRUE(write_all(-1, "").ok()) << "nothing to write";
}

TEST(MemoryFile, CannotBeChangedOnceSealed) {
  const auto file = memory_file();
  ASSERT_TRUE(file.ok());
  const int fd = file.value().get();
  ASSERT_TRUE(write_all(fd, "plan").ok());
  ASSERT_TRUE(seal(fd).ok());
  EXPECT_EQ(write_all(fd, "more").error().number, EPERM);
  EXPECT_NE(::ftruncate(fd, 0), 0);
  EXPECT_EQ(::mmap(nullptr, 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
  EXPECT_FALSE(seal(fd).ok()) << "not even the seals";
  EXPECT_EQ(::fcntl(fd, F_GETFD), FD_CLOEXEC);
}

TEST(Links, AreReadWholeOrNotAtAll) {
  const Scratch scratch;
  fs::create_symlink("some/where", scratch.path + "/link");
  EXPECT_EQ(read_link(scratch.path + "/link").value(), "some/where");
  EXPECT_EQ(read_link(scratch.path + "/absent").error().number, ENOENT);
  EXPECT_EQ(read_link(scratch.path).error().number, EINVAL);
  const std::string longest(4095, 'x');
  fs::create_symlink(longest, scratch.path + "/long");
  EXPECT_EQ(read_link(scratch.path + "/long").value(), longest);
}

TEST(PathOf, FollowsTheFileWhereItGoes) {
  const Scratch scratch;
  fs::create_directory(scratch.path + "/before");
  fs::create_directory_symlink("before", scratch.path + "/link");
  const auto held = open(scratch.path + "/link", O_PATH | O_DIRECTORY);
  EXPECT_EQ(path_of(held.value().get()).value(), scratch.path + "/before");
  fs::rename(scratch.path + "/before", scratch.path + "/after");
  EXPECT_EQ(path_of(held.value().get()).value(), scratch.path + "/after");
}

TEST(Walk, TellsWhereTheWayTurned) {
  const Scratch scratch;
  const std::string root = fs::canonical(scratch.path).string();
  fs::create_directories(root + "/a/b");
  fs::create_directory_symlink("a", root + "/relative");
  fs::create_directory_symlink(root + "/relative/b", root + "/absolute");
  fs::create_directory_symlink("loop", root + "/loop");
  fs::create_directory_symlink("nowhere", root + "/dangling");
  using Places = std::vector<std::string>;
  const struct {
    std::string path;
    std::string leads;
    Places turns;
  } rows[] = {{"/a/b", "/a/b", {}},
              {"/a//./b/", "/a/b", {}},
              {"/relative", "/a", {"/relative"}},
              {"/relative/b", "/a/b", {"/relative"}},
              {"/absolute", "/a/b", {"/absolute", "/relative"}},
              {"/a/b/..", "/a", {"/a/b"}},
              {"/absolute/../b", "/a/b", {"/absolute", "/relative", "/a/b"}}};
  for (const auto& row : rows) {
    const auto walked = walk(root + row.path);
    ASSERT_TRUE(walked.ok()) << row.path << ": " << walked.error().what;
    EXPECT_EQ(walked.value().path, root + row.leads);
    Places turns;
    for (const auto& turn : walked.value().turns) turns.push_back(turn.substr(root.size()));
    EXPECT_EQ(turns, row.turns) << row.path;
    EXPECT_EQ(path_of(walked.value().fd.get()).value(), root + row.leads);
  }
  EXPECT_EQ(walk(root + "/absent").error().number, ENOENT);
  EXPECT_EQ(walk(root + "/dangling").error().number, ENOENT);
  EXPECT_EQ(walk(root + "/loop").error().number, ELOOP);
}

TEST(MonotonicMs, DoesNotGoBack) {
  uint64_t last = monotonic_ms();
  for (int i = 0; i < 1000; ++i) {
    const uint64_t now = monotonic_ms();
    EXPECT_GE(now, last);
    last = now;
  }
}

// "No space left" is a question of where.
TEST(WriteAll, AFileThatCannotBeWrittenIsNamed) {
  const auto full = sys::open("/dev/full", O_WRONLY).value();
  EXPECT_EQ(sys::write_all(full.get(), "text").error().what.text(),
            "write /dev/full: No space left on device");
  const Pipe pipe = sys::make_pipe().value();
  EXPECT_EQ(sys::write_all(pipe.read.get(), "text").error().what.text(), "write: Bad file descriptor");
}

}  // namespace
}  // namespace cloche::sys
