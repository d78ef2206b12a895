// Which file systems are believed, by their numbers in the kernel's headers.
#include "store/protected/file_system_times.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

TEST(FileSystemTimes, AreTrustedWhereTheKernelSetsThem) {
  struct Row {
    const char* name;
    uint64_t type;
    bool directories;
    bool mapped_writes;
  };
  const Row rows[] = {
      {"ext4", 0xef53, true, true},         {"xfs", 0x58465342, true, true},
      {"btrfs", 0x9123683e, true, true},    {"f2fs", 0xf2f52010, true, true},
      {"zfs", 0x2fc12fc1, true, true},      {"tmpfs", 0x01021994, true, false},
      {"overlay", 0x794c7630, true, false}, {"ramfs", 0x858458f6, false, false},
      {"nfs", 0x6969, false, false},        {"fuse", 0x65735546, false, false},
      {"9p", 0x01021997, false, false},     {"virtiofs or unknown", 0, false, false},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(keeps_change_times(row.type), row.directories) << row.name;
    EXPECT_EQ(stamps_mapped_writes(row.type), row.mapped_writes) << row.name;
  }
}

}  // namespace
}  // namespace cloche
