#include "base/sys/path.hpp"

#include <gtest/gtest.h>

#include <string>

namespace cloche {
namespace {

using namespace std::string_literals;

struct Pair {
  const char* root;
  const char* path;
  bool beneath;
};

TEST(Path, IsBeneathComparesComponents) {
  const Pair rows[] = {
      {"/a", "/a", true},
      {"/a", "/a/b", true},
      {"/a", "/a/b/c", true},
      {"/a", "/ab", false},
      {"/a", "/", false},
      {"/a/b", "/a", false},
      {"/a/b", "/a/bc", false},
      {"/a/b", "/a/b/c", true},
      {"/", "/", true},
      {"/", "/a", true},
      {"/", "a", false},
      {"/", "", false},
      {"/a", "", false},
      {"/a", "a", false},
      {"/home/user", "/home/user2", false},
      {"/home/user", "/home/use", false},
      {"/a", "/A", false},
      {"/a b", "/a b/c", true},
      {"/tmp", "/tmp.old/x", false},
  };
  for (const auto& [root, path, beneath] : rows) {
    EXPECT_EQ(is_beneath(root, path), beneath) << root << " " << path;
  }
}

TEST(Path, PlainAbsoluteHasOneSpelling) {
  for (const auto& path :
       {"/"s, "/a"s, "/a/b"s, "/a b/ü"s, "/..."s, "/.a"s, "/a."s, "/..a"s, "/a/..b"s, "/-"s, "/\\"s}) {
    EXPECT_TRUE(is_plain_absolute(path)) << path;
  }
  for (const auto& path :
       {""s,     "a"s,     "a/b"s,  "./a"s,   "//"s,      "//a"s,    "/a/"s,   "/a//b"s, "/."s,  "/.."s,
        "/a/."s, "/a/.."s, "/./a"s, "/../a"s, "/a/../b"s, "/a/./b"s, "/a\0b"s, "/\0"s,   " /a"s, "~"s}) {
    EXPECT_FALSE(is_plain_absolute(path)) << path;
  }
}

TEST(Path, ClimbsBehindAName) {
  for (const char* path :
       {"a/..", "a/../b", "../a/../b", "/a/../b", "./a/..", "a/b/../../c", "a/./..", "a//../b"})
    EXPECT_TRUE(climbs_behind_a_name(path)) << path;
  for (const char* path :
       {"", "/", "a", "a/b", "..", "../b", "../../a/b", "./../a", "/../a", "..a/b", "a/..b", "a/.../b"})
    EXPECT_FALSE(climbs_behind_a_name(path)) << path;
}

TEST(Path, ParentTakesTheLastComponentAway) {
  EXPECT_EQ(parent_of("/a/b/c"), "/a/b");
  EXPECT_EQ(parent_of("/a/b"), "/a");
  EXPECT_EQ(parent_of("/a"), "/");
  EXPECT_EQ(parent_of("/"), "/");
  EXPECT_EQ(parent_of("a"), "/");
  EXPECT_EQ(parent_of(""), "/");
}

TEST(Path, EveryPlainPathLiesBeneathItsParents) {
  const std::string deep = "/one/two/three/four";
  for (std::string_view above = deep; above != "/"; above = parent_of(above)) {
    EXPECT_TRUE(is_plain_absolute(above));
    EXPECT_TRUE(is_beneath(above, deep)) << above;
    EXPECT_TRUE(is_beneath(parent_of(above), above)) << above;
    EXPECT_FALSE(is_beneath(above, parent_of(above))) << above;
  }
}

}  // namespace
}  // namespace cloche
