#include "gateway/configuration/installation.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

TEST(Installation, PartsCountWhereNoOtherUserCouldPlantThem) {
  struct Directory {
    mode_t mode;
    uid_t owner;
    gid_t group;
  };
  constexpr uid_t caller = 1000;
  constexpr uid_t another = 1001;
  constexpr mode_t folder = S_IFDIR;
  const struct {
    const char* what;
    Directory parts;
    Directory beside;
    bool safe;
  } rows[] = {
      {"of the system", {folder | 0755, 0, 0}, {folder | 0755, 0, 0}, true},
      {"of the caller", {folder | 0755, caller, 1}, {folder | 0755, caller, 1}, true},
      {"of the program's owner", {folder | 0755, another, 1}, {folder | 0755, another, 1}, true},
      {"of another user, in a directory for all", {folder | 0755, another, 1}, {folder | 0755, 0, 0}, false},
      {"of another user, beside the caller's",
       {folder | 0755, another, 1},
       {folder | 0755, caller, 1},
       false},
      {"for a group that has the program too", {folder | 0775, caller, 1}, {folder | 0775, caller, 1}, true},
      {"for a group that has not", {folder | 0775, caller, 1}, {folder | 0755, caller, 1}, false},
      {"for a group of its own", {folder | 0775, caller, 2}, {folder | 0775, caller, 1}, false},
      {"for all", {folder | 0777, 0, 0}, {folder | 0755, 0, 0}, false},
      {"sticky, for all", {folder | 01777, 0, 0}, {folder | 0755, 0, 0}, false},
      {"a link", {S_IFLNK | 0777, 0, 0}, {folder | 0755, 0, 0}, false},
      {"a program", {S_IFREG | 0755, 0, 0}, {folder | 0755, 0, 0}, true},
      {"a program of another user", {S_IFREG | 0755, another, 0}, {folder | 0755, 0, 0}, false},
  };
  const auto seen = [](const Directory& directory) {
    struct stat status {};
    status.st_mode = directory.mode;
    status.st_uid = directory.owner;
    status.st_gid = directory.group;
    return status;
  };
  for (const auto& row : rows)
    EXPECT_EQ(is_as_safe(seen(row.parts), seen(row.beside), caller), row.safe) << row.what;
}

}  // namespace
}  // namespace cloche
