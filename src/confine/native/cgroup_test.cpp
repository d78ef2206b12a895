// Against a tree that the test makes, as far as plain directories go, and against the real one where it may
// be used.
#include "confine/native/cgroup.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/scratch.hpp"
#include "base/sys/sys.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

bool is_empty_tree(const std::string& path) {
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.path().filename().string().starts_with("cloche-")) return false;
  }
  return true;
}

TEST(CgroupInAFakeTree, WithoutATreeThereIsNone) {
  const Scratch scratch;
  EXPECT_FALSE(Cgroup::find("cloche-7", "4:memory:/\n3:pids:/\n0::/\n", scratch.path + "/absent"));
  EXPECT_FALSE(Cgroup::find("cloche-7", "0::/\n", scratch.path + "/absent"));
  EXPECT_FALSE(Cgroup::find("cloche-7", "", scratch.path));
}

TEST(CgroupInAFakeTree, OfVersion1LiesBelowOurOwnInBothHierarchies) {
  const Scratch scratch;
  fs::create_directories(scratch.path + "/memory/user/me");
  fs::create_directories(scratch.path + "/pids");
  const auto group = Cgroup::find("cloche-7", "5:cpu,memory:/user/me\n3:pids:/\n0::/x\n", scratch.path);
  ASSERT_TRUE(group);
  EXPECT_EQ(group->by(), CountedBy::cgroup1);
  EXPECT_EQ(group->directories(), (std::vector<std::string>{scratch.path + "/memory/user/me/cloche-7",
                                                            scratch.path + "/pids/cloche-7"}));
  EXPECT_TRUE(is_empty_tree(scratch.path)) << "nothing is made yet";
}

TEST(CgroupInAFakeTree, OfVersion2LiesInTheNearestGroupThatHandsBothControllersDown) {
  const Scratch scratch;
  fs::create_directories(scratch.path + "/user/session");
  std::ofstream(scratch.path + "/cgroup.subtree_control") << "cpu memory pids\n";
  std::ofstream(scratch.path + "/user/cgroup.subtree_control") << "memory pids\n";
  std::ofstream(scratch.path + "/user/session/cgroup.subtree_control") << "memory\n";
  const auto group = Cgroup::find("cloche-7", "0::/user/session\n", scratch.path);
  ASSERT_TRUE(group);
  EXPECT_EQ(group->by(), CountedBy::cgroup2);
  EXPECT_EQ(group->directories(), std::vector<std::string>{scratch.path + "/user/cloche-7"});
  std::ofstream(scratch.path + "/user/cgroup.subtree_control") << "memory\n";
  std::ofstream(scratch.path + "/cgroup.subtree_control") << "cpu\n";
  EXPECT_FALSE(Cgroup::find("cloche-7", "0::/user/session\n", scratch.path));
}

// Directories can be made, and no control file appears in them.
TEST(CgroupInAFakeTree, OneThatCannotBeLimitedIsAnError) {
  const Scratch scratch;
  for (const char* hierarchy : {"/memory", "/pids"}) fs::create_directories(scratch.path + hierarchy);
  auto group = Cgroup::find("cloche-7", "4:memory:/\n3:pids:/\n", scratch.path);
  ASSERT_TRUE(group);
  EXPECT_FALSE(group->make(Limits{}).ok());
  group->remove();
  EXPECT_TRUE(is_empty_tree(scratch.path));
}

class RealCgroup : public testing::Test {
 protected:
  void SetUp() override {
    Limits limits;
    limits.memory_bytes = 64ULL << 20;
    limits.processes = 33;
    group_ = Cgroup::find(fresh_cgroup_name());
    if (!group_) GTEST_SKIP() << "skipped: no cgroup with memory and pids that this user may use";
    const auto made = group_->make(limits);
    ASSERT_TRUE(made.ok()) << made.error().what;
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
  bool is_version2() const { return group_->by() == CountedBy::cgroup2; }

  std::optional<Cgroup> group_;
};

TEST_F(RealCgroup, IsLimitedBeforeAnybodyIsInIt) {
  EXPECT_TRUE(is_version2() || group_->by() == CountedBy::cgroup1) << name_of(group_->by());
  EXPECT_EQ(content(is_version2() ? "memory.max" : "memory.limit_in_bytes"),
            std::to_string(64ULL << 20) + "\n");
  EXPECT_EQ(content("pids.max"), "34\n") << "the first process of the sandbox is the one more";
  EXPECT_EQ(content(is_version2() ? "cgroup.procs" : "tasks"), "") << "no process is in it yet";
}

TEST_F(RealCgroup, HasAProcsFileForEachDirectory) {
  EXPECT_EQ(group_->directories().size(), is_version2() ? 1U : 2U);
  EXPECT_EQ(group_->procs_files().size(), group_->directories().size());
  for (int file : group_->procs_files()) EXPECT_GE(file, 0);
}

TEST_F(RealCgroup, StartsWithEmptyNumbers) {
  EXPECT_EQ(group_->numbers().memory_kills, 0U);
  EXPECT_EQ(group_->numbers().processes_denied, 0U);
  EXPECT_LT(group_->numbers().memory_peak_bytes, 1ULL << 20);
}

TEST_F(RealCgroup, NoTwoFreshOnesHaveTheSameName) { EXPECT_NE(fresh_cgroup_name(), fresh_cgroup_name()); }

TEST_F(RealCgroup, OneThatSomebodyLeftIsReplaced) {
  const std::string name = fs::path(group_->directories().front()).filename();
  auto again = Cgroup::find(name);
  ASSERT_TRUE(again);
  ASSERT_TRUE(again->make(Limits{}).ok());
  EXPECT_EQ(content("pids.max"), std::to_string(Limits{}.processes + 1) + "\n");
}

TEST_F(RealCgroup, IsGoneAfterItWasRemoved) {
  group_->remove();
  for (const auto& directory : group_->directories()) EXPECT_FALSE(fs::exists(directory)) << directory;
  EXPECT_EQ(group_->numbers().memory_peak_bytes, 0U) << "and then has no numbers";
  group_->remove();
}

}  // namespace
}  // namespace cloche
