// Against a tree that the test makes, as far as plain directories go, and against the real one where it may
// be used.
#include "confine/cgroup.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/sys.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

struct Scratch {
  std::string path = testing::TempDir() + "cloche-unit-XXXXXX";
  Scratch() { EXPECT_NE(::mkdtemp(path.data()), nullptr); }
  ~Scratch() { fs::remove_all(path); }
};

bool is_empty_tree(const std::string& path) {
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.path().filename().string().starts_with("cloche-")) return false;
  }
  return true;
}

TEST(CgroupInAFakeTree, WithoutATreeSaysWhatStoodInTheWay) {
  const Scratch scratch;
  std::string why;
  EXPECT_FALSE(Cgroup::create(Limits{}, why, scratch.path + "/absent"));
  EXPECT_FALSE(why.empty());
}

// Directories can be made, and no control file appears in them: nothing limits, so there is no group, and
// nothing is left.
TEST(CgroupInAFakeTree, AGroupThatCannotBeLimitedIsTakenAwayAgain) {
  const Scratch scratch;
  const auto table = sys::read_file("/proc/self/cgroup", 1 << 16);
  ASSERT_TRUE(table.ok());
  size_t begin = 0;
  while (begin < table.value().size()) {  // id:controllers:path
    const size_t end = std::min(table.value().find('\n', begin), table.value().size());
    const std::string line = table.value().substr(begin, end - begin);
    begin = end + 1;
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    const std::string controllers = line.substr(first + 1, second - first - 1);
    for (const char* name : {"memory", "pids"}) {
      if (controllers == name) fs::create_directories(scratch.path + "/" + name + line.substr(second + 1));
    }
    if (controllers.empty()) fs::create_directories(scratch.path + line.substr(second + 1));
  }
  std::ofstream(scratch.path + "/cgroup.subtree_control") << "cpu memory pids\n";
  std::string why;
  EXPECT_FALSE(Cgroup::create(Limits{}, why, scratch.path));
  EXPECT_FALSE(why.empty());
  EXPECT_TRUE(is_empty_tree(scratch.path));
}

class RealCgroup : public testing::Test {
 protected:
  void SetUp() override {
    Limits limits;
    limits.memory_bytes = 64ULL << 20;
    limits.processes = 33;
    std::string why;
    group_ = Cgroup::create(limits, why);
    if (!group_) GTEST_SKIP() << "skipped: " << why;
  }
  void TearDown() override {
    if (group_) group_->remove();
  }
  std::string content(const std::string& name) const {
    for (const auto& directory : group_->directories()) {
      if (const auto text = sys::read_file(directory + "/" + name); text.ok()) return text.value();
    }
    return "(absent)";
  }
  bool is_version2() const { return group_->by() == "cgroup2"; }

  std::optional<Cgroup> group_;
};

TEST_F(RealCgroup, IsLimitedBeforeAnybodyIsInIt) {
  EXPECT_TRUE(is_version2() || group_->by() == "cgroup1") << group_->by();
  EXPECT_EQ(content(is_version2() ? "memory.max" : "memory.limit_in_bytes"),
            std::to_string(64ULL << 20) + "\n");
  EXPECT_EQ(content("pids.max"), "34\n") << "the first process of the sandbox is the one more";
  EXPECT_EQ(content(is_version2() ? "cgroup.procs" : "tasks"), "") << "nobody is in it yet";
}

TEST_F(RealCgroup, HasADoorForEachDirectory) {
  EXPECT_EQ(group_->directories().size(), is_version2() ? 1U : 2U);
  EXPECT_EQ(group_->doors().size(), group_->directories().size());
  for (const auto& door : group_->doors()) EXPECT_TRUE(door.valid());
}

TEST_F(RealCgroup, StartsWithEmptyNumbers) {
  EXPECT_EQ(group_->numbers().memory_kills, 0U);
  EXPECT_EQ(group_->numbers().processes_denied, 0U);
  EXPECT_LT(group_->numbers().memory_peak_bytes, 1ULL << 20);
}

TEST_F(RealCgroup, NoTwoHaveTheSameDirectory) {
  std::string why;
  const auto other = Cgroup::create(Limits{}, why);
  ASSERT_TRUE(other) << why;
  EXPECT_NE(other->directories().front(), group_->directories().front());
  other->remove();
}

TEST_F(RealCgroup, IsGoneAfterItWasRemoved) {
  group_->remove();
  for (const auto& directory : group_->directories()) EXPECT_FALSE(fs::exists(directory)) << directory;
  EXPECT_EQ(group_->numbers().memory_peak_bytes, 0U) << "and then has no numbers";
  group_->remove();
}

}  // namespace
}  // namespace cloche
