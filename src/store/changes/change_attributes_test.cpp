#include "store/changes/change_attributes.hpp"

#include <gtest/gtest.h>
#include <sys/xattr.h>

#include <fstream>

#include "base/scratch.hpp"
#include "store/changes/change_facts_fixture.hpp"

namespace cloche {
namespace {

std::string bytes_of_entry(unsigned tag, unsigned permissions, unsigned id) {
  std::string bytes;
  for (const auto& [value, count] : {std::pair(tag, 2), std::pair(permissions, 2), std::pair(id, 4)}) {
    for (int i = 0; i < count; ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xff);
  }
  return bytes;
}

constexpr unsigned none = 0xffffffff;

std::string list_for(unsigned user) {
  return std::string("\2\0\0\0", 4) + bytes_of_entry(1, 6, none) + bytes_of_entry(2, 6, user) +
         bytes_of_entry(4, 4, none) + bytes_of_entry(0x10, 6, none) + bytes_of_entry(0x20, 4, none);
}

TEST(ChangeAttributes, NamedUsersAndGroups) {
  const auto entries = entries_of_acl(list_for(7) + bytes_of_entry(8, 5, 9), false);
  ASSERT_TRUE(entries.has_value());
  EXPECT_EQ(*entries, (std::vector<AclEntry>{{.id = 7, .permissions = 6},
                                             {.is_group = true, .id = 9, .permissions = 5}}));
  EXPECT_FALSE(entries_of_acl("", false).has_value());
  EXPECT_FALSE(entries_of_acl("\1\1\1\1", false).has_value());
  EXPECT_FALSE(entries_of_acl(list_for(7) + "x", false).has_value());
}

TEST(ChangeAttributes, ListsThatTheCallMadeAreWithheld) {
  Project project;
  project.run("mkdir shared; echo a > a; echo b > b");
  const std::string own = list_for(7);
  const auto give = [](const std::string& path, const char* name, const std::string& list) {
    return ::setxattr(path.c_str(), name, list.data(), list.size(), 0) == 0;
  };
  if (!give(project.at("shared"), "system.posix_acl_default", own))
    GTEST_SKIP() << "skipped: no access control lists here";
  ASSERT_TRUE(give(project.at("a"), "system.posix_acl_access", own));
  project.begin();
  project.run("echo more > a; echo x > shared/inherited; mkdir shared/below; echo y > new");
  ASSERT_TRUE(give(project.at("new"), "system.posix_acl_access", list_for(8)));
  project.end();
  EXPECT_EQ(paths_with(project.set(), project.judge(), Fate::withheld), (std::vector<std::string>{"new"}))
      << reasons_of(project.set(), project.judge());
}

}  // namespace
}  // namespace cloche
