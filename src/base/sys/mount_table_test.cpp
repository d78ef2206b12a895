// Where a path lies in its file system, by the mount table.
#include "base/sys/mount_table.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/scratch.hpp"

namespace cloche {
namespace {

constexpr const char* table =
    "21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    "22 21 0:5 / /proc rw - proc proc rw\n"
    "23 21 8:2 / /home rw - ext4 /dev/sda2 rw\n"
    "24 23 8:1 /data/p/conf /home/u/.config rw - ext4 /dev/sda1 rw\n"
    "25 21 8:1 /data/a\\040b /mnt/x\\040y rw - ext4 /dev/sda1 rw\n"
    "26 21 8:1 /other /mnt/twice rw - ext4 /dev/sda1 rw\n"
    "27 26 8:1 /data/p /mnt/twice rw - ext4 /dev/sda1 rw\n";

TEST(MountTable, SaysWhereAPathLies) {
  const std::pair<const char*, const char*> rows[] = {
      {"/", "8:1 /"},
      {"/data/p", "8:1 /data/p"},
      {"/home", "8:2 /"},
      {"/home/u", "8:2 /u"},
      {"/home/u/.config", "8:1 /data/p/conf"},
      {"/home/u/.config/cloche/config.json", "8:1 /data/p/conf/cloche/config.json"},
      {"/home/u/.configs", "8:2 /u/.configs"},
      {"/mnt/x y/z", "8:1 /data/a b/z"},
      {"/mnt/twice/z", "8:1 /data/p/z"},
  };
  const auto mounts = read_mount_table(table);
  EXPECT_EQ(mounts.size(), 7U);
  for (const auto& [path, wanted] : rows) {
    const auto place = path_in_file_system(mounts, path);
    ASSERT_TRUE(place) << path;
    EXPECT_EQ(place->device + " " + place->path, wanted) << path;
  }
}

bool has_mount(const std::string& point) {
  const auto now = mount_table();
  return now && std::ranges::any_of(*now, [&](const Mount& mount) { return mount.point == point; });
}

constexpr int all_is_well = 10;

// In a mount namespace of its own: the step that went wrong, from 1.
int look_while_mounting(const std::string& point) {
  const int space = ::geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER;
  (void)mount_table();  // of the namespace around
  if (::unshare(space) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 1;
  if (has_mount(point)) return 2;
  if (mount_table() != mount_table()) return 3;  // nothing is read twice
  if (::mount(point.c_str(), point.c_str(), nullptr, MS_BIND, nullptr) != 0) return 4;
  if (!has_mount(point) || mount_table() != mount_table()) return 5;
  if (::umount2(point.c_str(), MNT_DETACH) != 0) return 6;
  return has_mount(point) ? 7 : all_is_well;
}

TEST(MountTable, IsReadAgainWhenSomethingWasMounted) {
  const Scratch scratch;
  const std::string point = std::filesystem::canonical(scratch.path).string();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(look_while_mounting(point));
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), all_is_well);
}

TEST(MountTable, OfGarbageNothing) {
  EXPECT_TRUE(read_mount_table("").empty());
  EXPECT_TRUE(read_mount_table("\n\n1 2 3\n").empty());
  EXPECT_FALSE(path_in_file_system({}, "/a"));
}

}  // namespace
}  // namespace cloche
