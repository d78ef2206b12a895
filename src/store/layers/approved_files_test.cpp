// What an approval covers lies in the call's layer as it was approved, and is no change of the call.
#include <filesystem>

#include "base/text/sha256.hpp"
#include "store/layers/call_layers.hpp"
#include "store/layers/layers_fixture.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

class ApprovedFiles : public testing::Test {
 protected:
  ApprovedFiles() {
    fs::create_directories(project + "sub/deep");
    write_text(project + "sub/deep/s.sh", "good");
    fs::create_symlink("deep/../deep/s.sh", project + "sub/link");
    fs::create_directory_symlink(project + "sub", project + "way");
    struct stat seen {};
    EXPECT_EQ(::stat(project.c_str(), &seen), 0);
    const std::string path = scratch.path + "/project";
    ViewEntry entry{.kind = EntryKind::tree, .access = Access::write_run, .target = path, .source = path};
    entry.device = seen.st_dev;
    entry.inode = seen.st_ino;
    entry.owner_uid = seen.st_uid;
    entry.owner_gid = seen.st_gid;
    entry.layered = true;
    plan.view.push_back(entry);
  }
  CallLayers made() {
    auto layers = CallLayers::make(plan, scratch.path + "/state", ::geteuid() == 0);
    EXPECT_TRUE(layers.ok()) << describe(layers.error());
    return std::move(layers).value();
  }
  ExecutedFile file(const std::string& name, const std::string& bytes = "good") const {
    return {name, sha256(bytes), project + name};
  }
  ExecutedFile absent(const std::string& name) const { return {name, "", project + name}; }
  // Everything in the upper layer.
  static Lines names_in(const CallLayers& layers) {
    const std::string upper = layers.trees().front().directory.path + "/u/";
    Lines names;
    for (const auto& entry : fs::recursive_directory_iterator(upper))
      names.push_back(entry.path().string().substr(upper.size()) +
                      (fs::is_character_file(entry.symlink_status()) ? " absent" : ""));
    std::sort(names.begin(), names.end());
    return names;
  }
  static size_t changes_of(const CallLayers& layers) {
    const TreeLayer& tree = layers.trees().front();
    const TreeLayers trees[] = {{tree.tree, tree.lower.get(), tree.upper.get(), layers.attributes()}};
    return read_changes(trees, {}).value().set.changes.size();
  }

  Scratch scratch;
  std::string project = scratch.path + "/project/";
  ConfinementPlan plan;
};

TEST_F(ApprovedFiles, WithEveryStepOnTheWay) {
  const std::pair<ExecutedFile, Lines> rows[] = {
      {file("sub/deep/s.sh"), {"sub", "sub/deep", "sub/deep/s.sh"}},
      {file("sub/link"), {"sub", "sub/deep", "sub/deep/s.sh", "sub/link"}},
      {file("way/link"), {"sub", "sub/deep", "sub/deep/s.sh", "sub/link", "way"}},
      {absent("sub/none"), {"sub", "sub/none absent"}},
      {absent("none/at/all"), {"none absent"}},
      {absent("sub/deep"), {"sub", "sub/deep"}},
      {{"/etc/passwd", "", "/etc/passwd"}, {}},
  };
  for (const auto& [approved, expected] : rows) {
    CallLayers layers = made();
    const ExecutedFile twice[] = {approved, approved};
    const auto put = layers.put_approved(twice);
    ASSERT_TRUE(put.ok()) << approved.path << ": " << describe(put.error());
    EXPECT_EQ(names_in(layers), expected) << approved.path;
    EXPECT_EQ(changes_of(layers), 0U) << approved.path << ": it is as the project has it";
    layers.take_back_approved();
    EXPECT_EQ(names_in(layers), Lines{}) << approved.path;
  }
}

TEST_F(ApprovedFiles, OnlyAsTheyWereApproved) {
  for (const ExecutedFile& changed : {file("sub/deep/s.sh", "other"), file("sub/none"), file("sub/deep"),
                                      file("sub/deep/s.sh/x"), absent("sub/deep/s.sh"), absent("way/link")}) {
    CallLayers layers = made();
    const ExecutedFile approved[] = {changed};
    EXPECT_FALSE(layers.put_approved(approved).ok()) << changed.path;
  }
}

TEST_F(ApprovedFiles, WhatTheHostDoesMeanwhileIsNoChangeOfTheCall) {
  CallLayers layers = made();
  const ExecutedFile approved[] = {file("way/link"), absent("later.sh")};
  ASSERT_TRUE(layers.put_approved(approved).ok());
  const std::string upper = layers.trees().front().directory.path + "/u/";
  write_text(project + "sub/deep/s.sh", "evil");
  EXPECT_EQ(sys::read_file(upper + "sub/deep/s.sh").value(), "good");
  write_text(project + "later.sh", "evil");
  fs::remove(project + "way");
  fs::remove_all(project + "sub");
  layers.take_back_approved();
  EXPECT_EQ(changes_of(layers), 0U);
}

TEST_F(ApprovedFiles, WhatTheCallDidToThemStays) {
  CallLayers layers = made();
  const ExecutedFile approved[] = {file("sub/link"), absent("sub/new")};
  ASSERT_TRUE(layers.put_approved(approved).ok());
  const std::string upper = layers.trees().front().directory.path + "/u/";
  write_text(upper + "sub/deep/s.sh", "better");
  fs::remove(upper + "sub/new");
  write_text(upper + "sub/new", "better");
  layers.take_back_approved();
  EXPECT_EQ(names_in(layers), (Lines{"sub", "sub/deep", "sub/deep/s.sh", "sub/new"}));
  EXPECT_EQ(changes_of(layers), 2U);
}

// As copied up: mode, times and the modes of directories too, a closed one among them.
TEST_F(ApprovedFiles, AreAsTheProjectHasThem) {
  fs::permissions(project + "sub/deep/s.sh", fs::perms(0751));
  set_time(project + "sub/deep/s.sh");
  fs::permissions(project + "sub/deep", fs::perms(0555));
  {
    CallLayers layers = made();
    const ExecutedFile approved[] = {file("sub/deep/s.sh")};
    ASSERT_TRUE(layers.put_approved(approved).ok());
    EXPECT_EQ(changes_of(layers), 0U);
    const std::string upper = layers.trees().front().directory.path + "/u/";
    EXPECT_EQ(fs::status(upper + "sub/deep/s.sh").permissions(), fs::perms(0751));
    EXPECT_EQ(fs::status(upper + "sub/deep").permissions(), fs::perms(0555));
  }
  fs::permissions(project + "sub/deep", fs::perms(0755));
}

}  // namespace
}  // namespace cloche
