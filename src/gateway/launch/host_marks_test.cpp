#include "gateway/launch/host_marks.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace cloche {
namespace {

namespace fs = std::filesystem;

class HostMarksTest : public testing::Test {
 protected:
  HostMarksTest() {
    std::string name = "/tmp/cloche-marks-XXXXXX";
    root = ::mkdtemp(name.data());
  }
  ~HostMarksTest() override { fs::remove_all(root); }
  std::string make(const std::string& name, const std::string& text) const {
    std::ofstream(root / name) << text;
    return root / name;
  }
  fs::path root;
};

TEST_F(HostMarksTest, HoldUntilAFileChanges) {
  const std::string there = make("there", "1");
  const std::string link = root / "link";
  fs::create_symlink(there, link);
  const std::string absent = root / "absent";
  const auto take = [&] { return HostMarks::take({link, absent}); };
  HostMarks marks = take();
  EXPECT_TRUE(marks.still_hold());
  EXPECT_TRUE(marks.still_hold());
  make("there", "22");
  EXPECT_FALSE(marks.still_hold()) << "it was written to";
  marks = take();
  fs::remove(link);
  fs::create_symlink(make("other", "22"), link);
  EXPECT_FALSE(marks.still_hold()) << "it is another file";
  marks = take();
  make("absent", "");
  EXPECT_FALSE(marks.still_hold()) << "it has appeared";
  marks = take();
  fs::remove(absent);
  EXPECT_FALSE(marks.still_hold()) << "it is gone";
  EXPECT_TRUE(take().still_hold());
}

TEST_F(HostMarksTest, HoldUntilSomethingIsMounted) {
  const pid_t child = ::fork();
  if (child == 0) {
    const int flags = CLONE_NEWNS | (::geteuid() == 0 ? 0 : CLONE_NEWUSER);
    if (::unshare(flags) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
      ::_exit(2);
    const HostMarks marks = HostMarks::take({});
    if (!marks.still_hold()) ::_exit(3);
    if (::mount("none", root.c_str(), "tmpfs", 0, nullptr) != 0) ::_exit(4);
    ::_exit(marks.still_hold() ? 5 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(HostMarksTest, OfAPythonAreItsFilesAndTheDirectoriesOfItsModules) {
  const std::string program = make("python3.99", "");
  const auto marks = marks_of_python({root / "absent", program});
  const auto has = [&](const std::string& path) {
    return std::find(marks.begin(), marks.end(), path) != marks.end();
  };
  EXPECT_TRUE(has(root / "absent"));
  EXPECT_TRUE(has(program));
  EXPECT_TRUE(has("/usr/lib/python3/dist-packages"));
  EXPECT_TRUE(has("/usr/local/lib/python3.99/site-packages"));
  EXPECT_EQ(marks_of_python({root / "absent"}).size(), 1U);
}

}  // namespace
}  // namespace cloche
