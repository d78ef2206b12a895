// The part of a view that never changes: built, reused, built anew, and not deleted while a call holds it.
#include "store/host/skeleton.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "base/sys/directory.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

class SkeletonTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(path_.data()), nullptr);
    path_ = fs::canonical(path_).string();
    fs::create_directories(path_ + "/etc/alternatives");
    write("etc/services", "ssh 22/tcp\n");
    write("etc/alternatives/README", "text");
    fs::create_symlink("/usr/bin/vim", path_ + "/etc/alternatives/vi");
    plan_.argv = {"x"};
    plan_.view = {{.kind = EntryKind::tree,
                   .access = Access::run,
                   .target = "/usr",
                   .source = "/usr",
                   .recursive = true},
                  {.kind = EntryKind::link, .target = "/bin", .source = "usr/bin"},
                  {.kind = EntryKind::directory, .target = "/run"},
                  {.kind = EntryKind::proc, .target = "/proc"},
                  {.kind = EntryKind::tmpfs,
                   .access = Access::write_run,
                   .target = "/tmp",
                   .mode = 01777,
                   .size_bytes = 4096},
                  {.kind = EntryKind::text, .target = "/etc/passwd", .content = "root:x:0:0\n", .mode = 0644},
                  {.kind = EntryKind::tree,
                   .access = Access::device,
                   .target = "/dev/null",
                   .source = "/dev/null",
                   .file = true},
                  {.kind = EntryKind::tree,
                   .target = "/etc/services",
                   .source = path_ + "/etc/services",
                   .file = true,
                   .copied = true},
                  {.kind = EntryKind::tree,
                   .target = "/etc/alternatives",
                   .source = path_ + "/etc/alternatives",
                   .copied = true},
                  {.kind = EntryKind::tree,
                   .access = Access::write_run,
                   .target = "/home/user/project",
                   .source = path_,
                   .owned = true},
                  {.kind = EntryKind::tree, .target = "/usr/share/inside", .source = path_, .owned = true},
                  {.kind = EntryKind::tree, .target = "/tmp/inside", .source = path_, .owned = true}};
  }
  void TearDown() override { fs::remove_all(path_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ + "/" + name) << text;
  }
  Skeleton take(SkeletonPart part = SkeletonPart::etc) const {
    auto taken = take_skeleton(plan_, part, state());
    EXPECT_TRUE(taken.ok()) << taken.error().what;
    return taken.ok() ? std::move(taken).value() : Skeleton{};
  }
  std::string state() const { return path_ + "/state/cloche"; }
  size_t count() const { return names_in(state() + "/skeletons").size(); }
  static std::string content(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  static struct stat status_of(const std::string& path) {
    struct stat seen {};
    EXPECT_EQ(::lstat(path.c_str(), &seen), 0) << path;
    return seen;
  }

  std::string path_ = testing::TempDir() + "cloche-unit-XXXXXX";
  ConfinementPlan plan_;
};

TEST_F(SkeletonTest, HoldsEveryStillThingAndAMountPointForEveryOther) {
  const Skeleton skeleton = take(SkeletonPart::root);
  const std::string& root = skeleton.root;
  EXPECT_EQ(fs::read_symlink(root + "/bin"), "usr/bin");
  for (const char* mount_point : {"/usr", "/run", "/proc", "/tmp", "/etc", "/home/user/project"}) {
    EXPECT_TRUE(fs::is_directory(root + mount_point)) << mount_point;
    EXPECT_TRUE(fs::is_empty(root + mount_point)) << mount_point << ": what lies in a mount comes with it";
  }
  const Skeleton second = take(SkeletonPart::etc);
  const std::string& etc = second.root;
  EXPECT_EQ(content(etc + "/passwd"), "root:x:0:0\n");
  EXPECT_EQ(content(etc + "/services"), "ssh 22/tcp\n");
  EXPECT_EQ(content(etc + "/alternatives/README"), "text");
  EXPECT_EQ(fs::read_symlink(etc + "/alternatives/vi"), "/usr/bin/vim") << "a link stays a link";
}

TEST_F(SkeletonTest, HasDeviceNodesWhereItMayMakeThem) {
  const Skeleton skeleton = take(SkeletonPart::root);
  const struct stat seen = status_of(skeleton.root + "/dev/null");
  EXPECT_EQ(skeleton.has_devices, S_ISCHR(seen.st_mode));
  EXPECT_EQ(skeleton.has_devices, ::geteuid() == 0) << "root may, others may not";
  if (skeleton.has_devices) {
    EXPECT_EQ(seen.st_rdev, status_of("/dev/null").st_rdev);
    EXPECT_EQ(seen.st_mode & 07777, 0666U);
  } else {
    EXPECT_TRUE(S_ISREG(seen.st_mode)) << "a mount point";
    EXPECT_EQ(seen.st_size, 0);
  }
}

TEST_F(SkeletonTest, OnlyCharacterDevicesBecomeNodes) {
  plan_.view[6].source = path_ + "/etc/services";
  const Skeleton skeleton = take(SkeletonPart::root);
  EXPECT_FALSE(skeleton.has_devices);
  EXPECT_TRUE(S_ISREG(status_of(skeleton.root + "/dev/null").st_mode));
}

TEST_F(SkeletonTest, APartWithoutEntriesIsNoDirectory) {
  plan_.view = {{.kind = EntryKind::tree, .target = "/etc", .source = "/etc"},
                {.kind = EntryKind::tree, .target = "/etc/granted", .source = path_, .owned = true}};
  EXPECT_EQ(take(SkeletonPart::etc).root, "") << "/etc is the host's own, and nothing may cover it";
  EXPECT_NE(take(SkeletonPart::root).root, "");
}

TEST_F(SkeletonTest, IsKeptWhereThePlanSays) {
  for (const SkeletonPart part : {SkeletonPart::root, SkeletonPart::etc})
    EXPECT_EQ(take(part).root, skeleton_home(plan_, part, state()) + "/root");
  EXPECT_EQ(skeleton_home(plan_, SkeletonPart::etc, ""), "");
}

TEST_F(SkeletonTest, AWatchSeesWhateverChangesAFile) {
  const std::string services = path_ + "/etc/services";
  const std::function<void()> changes[] = {
      [&] { write("etc/services", "ssh 23/tcp\n"); },
      [&] { EXPECT_EQ(::chmod(services.c_str(), 0600), 0); },
      [&] { EXPECT_EQ(::unlink(services.c_str()), 0); },
      [&] { fs::rename(path_ + "/etc/alternatives/README", services); },
      [&] { fs::rename(services, path_ + "/moved"); },
      [&] { write("etc/alternatives/new", "text"); },
      [&] {
        fs::create_hard_link(services, path_ + "/other");
        std::ofstream(path_ + "/other", std::ios::app) << "more";
      },
      [&] {  // a directory above it, with all that is in it
        fs::rename(path_ + "/etc", path_ + "/etc-before");
        fs::copy(path_ + "/etc-before", path_ + "/etc",
                 fs::copy_options::recursive | fs::copy_options::copy_symlinks);
      },
  };
  for (const auto& change : changes) {
    write("etc/services", "ssh 22/tcp\n");
    write("etc/alternatives/README", "text");
    fs::permissions(services, fs::perms(0644));
    fs::remove(path_ + "/other");
    SkeletonWatch watch;
    watch.add(take());
    EXPECT_TRUE(watch.is_unchanged() && !watch.has_seen_one()) << (&change - std::begin(changes));
    EXPECT_EQ(content(services), "ssh 22/tcp\n");
    EXPECT_TRUE(watch.is_unchanged()) << "it was read";
    change();
    EXPECT_TRUE(!watch.is_unchanged() && watch.has_seen_one()) << (&change - std::begin(changes));
  }
}

TEST_F(SkeletonTest, AWatchThatComesTooLateSaysNothing) {
  const Skeleton old = take();
  write("etc/services", "ssh 23/tcp, and more\n");
  SkeletonWatch watch;
  watch.add(old);
  EXPECT_FALSE(watch.is_unchanged());
  EXPECT_FALSE(watch.has_seen_one());
}

TEST_F(SkeletonTest, TheRootIsOneWorkspacesAndEtcIsForAll) {
  const ino_t root = take(SkeletonPart::root).inode;
  const ino_t etc = take(SkeletonPart::etc).inode;
  plan_.view[9].target = "/home/user/another";
  EXPECT_NE(take(SkeletonPart::root).inode, root);
  EXPECT_EQ(take(SkeletonPart::etc).inode, etc);
}

TEST_F(SkeletonTest, NamesTheDirectoryThatTheJailMustFind) {
  const Skeleton skeleton = take();
  const struct stat seen = status_of(skeleton.root);
  EXPECT_EQ(seen.st_dev, skeleton.device);
  EXPECT_EQ(seen.st_ino, skeleton.inode);
  EXPECT_TRUE(skeleton.lock.valid());
}

TEST_F(SkeletonTest, IsPrivateOutsideAndReadableInside) {
  const auto before = ::umask(077);
  const Skeleton skeleton = take();
  ::umask(before);
  EXPECT_EQ(status_of(state() + "/skeletons").st_mode & 0777, 0700U);
  EXPECT_EQ(status_of(skeleton.root).st_mode & 0777, 0755U) << "whatever the caller's umask is";
  EXPECT_EQ(status_of(skeleton.root + "/alternatives").st_mode & 0777, 0755U);
  EXPECT_EQ(status_of(skeleton.root + "/passwd").st_mode & 07777, 0644U);
}

TEST_F(SkeletonTest, IsReusedWhileNothingChanges) {
  const ino_t first = take().inode;
  for (int again = 0; again < 3; ++again) EXPECT_EQ(take().inode, first);
  EXPECT_EQ(count(), 1U);
}

TEST_F(SkeletonTest, IsSharedByCallsAtTheSameTime) {
  const Skeleton first = take();
  const Skeleton second = take();
  EXPECT_EQ(first.inode, second.inode);
}

TEST_F(SkeletonTest, IsBuiltAnewWhenACopiedFileChanges) {
  EXPECT_EQ(content(take().root + "/services"), "ssh 22/tcp\n");
  write("etc/services", "ssh 2222/tcp\n");
  EXPECT_EQ(content(take().root + "/services"), "ssh 2222/tcp\n");
  fs::remove(path_ + "/etc/services");
  write("etc/services", "ssh 2222/tcp\n");
  const ino_t replaced = take().inode;
  EXPECT_EQ(take().inode, replaced) << "and then reused again";
}

TEST_F(SkeletonTest, IsBuiltAnewWhenACopiedDirectoryChanges) {
  (void)take();
  write("etc/alternatives/new", "new");
  EXPECT_EQ(content(take().root + "/alternatives/new"), "new");
  fs::remove(path_ + "/etc/alternatives/new");
  EXPECT_FALSE(fs::exists(take().root + "/alternatives/new"));
  fs::remove(path_ + "/etc/alternatives/vi");
  fs::create_symlink("/usr/bin/nano", path_ + "/etc/alternatives/vi");
  EXPECT_EQ(fs::read_symlink(take().root + "/alternatives/vi"), "/usr/bin/nano");
}

TEST_F(SkeletonTest, OfAnotherPlanIsAnother) {
  const ino_t first = take().inode;
  plan_.view[5].content = "another user\n";
  const Skeleton second = take();
  EXPECT_NE(second.inode, first);
  EXPECT_EQ(content(second.root + "/passwd"), "another user\n");
  EXPECT_EQ(count(), 2U);
  (void)take(SkeletonPart::root);
  plan_.view[1].source = "usr/sbin";
  EXPECT_EQ(fs::read_symlink(take(SkeletonPart::root).root + "/bin"), "usr/sbin");
  EXPECT_EQ(count(), 4U);
}

TEST_F(SkeletonTest, DoesNotDependOnWhatOnlyTheMountsDecide) {
  const ino_t first = take(SkeletonPart::root).inode;
  plan_.view[0].source = "/opt";
  plan_.view[4].size_bytes = 8192;
  plan_.view[10].target = "/usr/share/elsewhere";
  plan_.argv = {"y"};
  EXPECT_EQ(take(SkeletonPart::root).inode, first);
}

TEST_F(SkeletonTest, AnOldOneStaysForAsLongAsItIsHeld) {
  Skeleton held = take();
  const OwnedFd root(::open(held.root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  write("etc/services", "ssh 1/tcp\n");
  (void)take();
  write("etc/services", "ssh 2/tcp\n");
  (void)take();
  EXPECT_EQ(::faccessat(root.get(), "passwd", F_OK, 0), 0) << "its user would lose the ground it stands on";
  held.lock.reset();
  write("etc/services", "ssh 3/tcp\n");
  (void)take();
  write("etc/services", "ssh 4/tcp\n");
  (void)take();
  EXPECT_NE(::faccessat(root.get(), "passwd", F_OK, 0), 0) << "and is removed when no call holds it any more";
}

TEST_F(SkeletonTest, OneThatOthersCouldHaveChangedIsNotUsed) {
  const std::string home = fs::path(take().root).parent_path();
  fs::permissions(home, fs::perms(0777));
  const Skeleton again = take();
  EXPECT_EQ(status_of(fs::path(again.root).parent_path()).st_mode & 0777, 0700U) << "it was built anew";
}

TEST_F(SkeletonTest, WithoutAStateDirectoryThereIsNone) {
  EXPECT_FALSE(take_skeleton(plan_, SkeletonPart::etc, "").ok());
  write("file", "");
  EXPECT_FALSE(take_skeleton(plan_, SkeletonPart::etc, path_ + "/file").ok());
}

TEST_F(SkeletonTest, WhatIsTooLargeToCopyIsNotHalfDone) {
  write("etc/alternatives/large", "");
  fs::resize_file(path_ + "/etc/alternatives/large", 1ULL << 30);
  EXPECT_FALSE(take_skeleton(plan_, SkeletonPart::etc, state()).ok());
  fs::remove(path_ + "/etc/alternatives/large");
  EXPECT_TRUE(take_skeleton(plan_, SkeletonPart::etc, state()).ok());
  EXPECT_EQ(count(), 1U) << "and what was begun is cleaned away";
}

}  // namespace
}  // namespace cloche
