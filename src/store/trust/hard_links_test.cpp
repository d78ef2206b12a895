// Where another name of a file can lie, by the mount table.
#include "store/trust/hard_links.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

constexpr const char* table =
    "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
    "22 21 8:2 / /home rw - ext4 /dev/sda2 rw\n"
    "23 22 8:3 / /home/u/disk rw - ext4 /dev/sda3 rw\n"
    "24 21 8:1 /srv/shared /mnt/shared rw - ext4 /dev/sda1 rw\n";

TEST(HardLinks, NoNameLeavesItsFileSystem) {
  struct Row {
    const char* file;
    std::vector<std::string> trees;
    bool could;
  };
  const Row rows[] = {
      {"/opt/cloche/bin/cloche-jail", {"/home/u/project"}, false},
      {"/opt/cloche/bin/cloche-jail", {"/home/u/project", "/home/u/disk"}, false},
      {"/opt/cloche/bin/cloche-jail", {}, false},
      {"/opt/cloche/bin/cloche-jail", {"/srv/project"}, true},
      {"/opt/cloche/bin/cloche-jail", {"/home/u/project", "/srv/project"}, true},
      {"/opt/cloche/bin/cloche-jail", {"/mnt/shared/project"}, true},  // a bind mount of the same
      {"/home/u/disk/bin/cloche-jail", {"/home/u"}, true},             // mounted below it
      {"/home/u/disk/bin/cloche-jail", {"/home/u/project"}, false},
  };
  const auto mounts = read_mount_table(table);
  for (const auto& row : rows) EXPECT_EQ(could_lie_in(mounts, row.file, row.trees), row.could) << row.file;
}

TEST(HardLinks, WhatTheTableDoesNotKnowCouldLieAnywhere) {
  EXPECT_TRUE(could_lie_in({}, "/opt/cloche/bin/cloche-jail", {"/home/u/project"}));
}

}  // namespace
}  // namespace cloche
