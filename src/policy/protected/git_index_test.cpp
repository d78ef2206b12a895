#include "policy/protected/git_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/text/sha256.hpp"

namespace cloche {
namespace {

struct File {
  std::string name;
  char object = 'o';
  uint32_t stat_data = 7;
  uint32_t mode = 0100644;
  uint32_t flags = 0;
  std::optional<size_t> noted_length = {};  // none: as it is
};

std::string number(uint32_t value, int bytes) {
  std::string text;
  while (bytes-- > 0) text += static_cast<char>(value >> (8U * static_cast<unsigned>(bytes)));
  return text;
}

// As the documentation of git's format says; names in format 4 are given whole, without the last one's start.
std::string index_of(const std::vector<File>& files, uint32_t version = 2, size_t id_bytes = 20,
                     const std::string& extensions = {}) {
  std::string text = "DIRC" + number(version, 4) + number(static_cast<uint32_t>(files.size()), 4);
  size_t last = 0;
  for (const File& file : files) {
    std::string entry;
    for (int i = 0; i < 6; ++i) entry += number(file.stat_data, 4);
    entry += number(file.mode, 4);
    for (int i = 0; i < 3; ++i) entry += number(file.stat_data, 4);
    entry += std::string(id_bytes, file.object);
    const size_t length = file.noted_length ? *file.noted_length : std::min<size_t>(file.name.size(), 0xfff);
    entry += number((file.flags & 0xf000U) | static_cast<uint32_t>(length), 2);
    if ((file.flags & 0x4000U) != 0) entry += number(file.flags >> 16U, 2);
    if (version == 4) {
      entry += static_cast<char>(last);
      entry += file.name + '\0';
      last = file.name.size();
    } else {
      entry += file.name;
      entry += std::string(8 - entry.size() % 8, '\0');
    }
    text += entry;
  }
  return text + extensions + std::string(id_bytes, static_cast<char>(files.size()));
}

std::string extension(const std::string& name, const std::string& contents) {
  return name + number(static_cast<uint32_t>(contents.size()), 4) + contents;
}

TEST(GitIndex, DiffersInStatDataAlone) {
  for (const uint32_t version : {2U, 3U, 4U}) {
    for (const size_t id_bytes : {20U, 32U}) {
      const std::string one = index_of({{"a"}, {"dir/bc"}}, version, id_bytes);
      const std::string other = index_of({{"a", 'o', 8}, {"dir/bc", 'o', 9}}, version, id_bytes);
      EXPECT_NE(one, other);
      EXPECT_TRUE(is_same_index(one, other)) << version << " " << id_bytes;
      EXPECT_TRUE(
          is_same_index(one, index_of({{"a"}, {"dir/bc"}}, 2, id_bytes)));  // another version of one index
    }
  }
}

TEST(GitIndex, EverythingElseCounts) {
  const std::string one = index_of({{"a"}, {"b"}});
  EXPECT_FALSE(is_same_index(one, index_of({{"a"}})));
  EXPECT_FALSE(is_same_index(one, index_of({{"a"}, {"c"}})));
  EXPECT_FALSE(is_same_index(one, index_of({{"a"}, {"b", 'p'}})));
  EXPECT_FALSE(is_same_index(one, index_of({{"a"}, {"b", 'o', 7, 0100755}})));
  EXPECT_FALSE(is_same_index(one, index_of({{"a"}, {"b", 'o', 7, 0100644, 0x1000}})));  // another stage
  const uint32_t skipped = 0x4000U | (0x4000U << 16U);
  EXPECT_FALSE(is_same_index(one, index_of({{"a"}, {"b", 'o', 7, 0100644, skipped}}, 3)));
}

TEST(GitIndex, CachesDoNotCountAndOtherExtensionsDo) {
  const std::string one = index_of({{"a"}});
  EXPECT_TRUE(is_same_index(one, index_of({{"a"}}, 2, 20, extension("TREE", "x") + extension("UNTR", ""))));
  EXPECT_FALSE(is_same_index(one, index_of({{"a"}}, 2, 20, extension("REUC", "x"))));
  EXPECT_FALSE(is_same_index(one, index_of({{"a"}}, 2, 20, extension("link", "x"))));
}

TEST(GitIndex, WhatIsNoIndexIsEqualToNothing) {
  const std::string one = index_of({{"a"}, {"dir/b"}}, 4);
  EXPECT_FALSE(is_same_index("", ""));
  EXPECT_FALSE(is_same_index("DIRC", "DIRC"));
  for (size_t length = 0; length < one.size(); ++length)
    EXPECT_FALSE(is_same_index(one.substr(0, length), one.substr(0, length))) << length;
}

TEST(GitIndex, StatDataAreRefreshedWhereTimeAndSizeFit) {
  EntryFile now{.is_new = true};
  now.seen.st_mtim = {7, 7};
  now.seen.st_size = 7;
  now.seen.st_ctim = {9, 9};
  now.seen.st_dev = now.seen.st_ino = now.seen.st_uid = now.seen.st_gid = 9;
  const auto look = [&](const std::string& name) -> std::optional<EntryFile> {
    return name == "gone" ? std::nullopt : std::optional(now);
  };
  for (const uint32_t version : {2U, 3U, 4U}) {
    std::string one = index_of({{"a"}, {"dir/b", 'o', 8}, {"gone"}}, version);
    EXPECT_FALSE(refreshed_index(one, look)) << "its checksum does not hold";
    one.replace(one.size() - 20, 20, sha1_bytes(one.substr(0, one.size() - 20)));
    const auto refreshed = refreshed_index(one, look);
    ASSERT_TRUE(refreshed) << version;
    EXPECT_TRUE(is_same_index(one, *refreshed));
    std::string expected = number(9, 4) + number(9, 4) + number(7, 4) + number(7, 4) + number(9, 4) +
                           number(9, 4) + number(0100644, 4) + number(9, 4) + number(9, 4) + number(7, 4);
    EXPECT_EQ(refreshed->substr(12, 40), expected);
    EXPECT_EQ(refreshed->substr(52, one.size() - 72), one.substr(52, one.size() - 72));
    EXPECT_EQ(refreshed->substr(one.size() - 20), sha1_bytes(refreshed->substr(0, one.size() - 20)));
    now.seen.st_size = 6;
    EXPECT_FALSE(refreshed_index(one, look));
    now.seen.st_size = 7;
    now.is_new = false;
    EXPECT_FALSE(refreshed_index(one, look)) << "it was changed since";
    now.seen.st_ctim = {7, 7};
    EXPECT_TRUE(refreshed_index(one, look));
    now.seen.st_ctim = {9, 9};
    now.is_new = true;
  }
}

std::string danger_in(const std::vector<File>& files, uint32_t version = 2, size_t id_bytes = 20,
                      const std::string& extensions = {}) {
  const ObjectNames names = id_bytes == 20 ? ObjectNames::sha1 : ObjectNames::sha256;
  return danger_in_git_index(index_of(files, version, id_bytes, extensions), names).value_or("");
}

TEST(GitIndex, PathsThatGitWouldAddAreHarmless) {
  const std::string longest(5000, 'x');
  for (const std::string name : {"a", "dir/.gitignore", ".gitmodules", "...", "a~1", "..x/y..", "\351",
                                 "caf\xc3\xa9/\xff", ".github/x", ".gitx", "x.git/y"})
    for (const size_t id_bytes : {20U, 32U})
      EXPECT_EQ(danger_in({{name}, {"z/" + name}}, 2, id_bytes), "") << name;
  EXPECT_EQ(danger_in({{longest}}), "");
  EXPECT_EQ(danger_in({{"d/", 'o', 7, 0040000}, {"e"}}, 3), "") << "a directory of a sparse index";
  EXPECT_EQ(danger_in({{""}, {"e"}}, 2, 20, extension("link", "x")), "") << "a split index";
  EXPECT_EQ(danger_in({}), "");
}

TEST(GitIndex, PathsThatGitWouldNotAddAreTold) {
  for (const std::string name : {".git/hooks/pre-commit", ".GIT/config", "a/.git/config", ".git", "../x",
                                 "a/../../x", "/etc/x", "a//b", "./a", "a/.", "a/", ".gi\xe2\x80\x8ct/config",
                                 "git~1/config", ".git./x", ".git /x", ".git:x/y"})
    for (const uint32_t version : {2U, 3U, 4U})
      EXPECT_NE(danger_in({{"a"}, {name}}, version), "") << name << " " << version;
}

// Git goes by lengths and places that are noted beside what they are about.
TEST(GitIndex, WhatCouldBeReadInTwoWaysIsTold) {
  EXPECT_NE(danger_in({{"a", 'o', 7, 0100644, 0, 40}}), "");
  EXPECT_NE(danger_in({{"a"}, {"b", 'o', 7, 0100644, 0, 40}}, 4), "");
  EXPECT_NE(danger_in({{""}}), "") << "no part of a split one";
  const std::vector<File> files = {{"a"}, {"b"}, {"c"}};
  const size_t bytes = index_of({{"a"}}).size() - 12 - 20;
  const auto at = [&](size_t entries) { return number(static_cast<uint32_t>(12 + entries * bytes), 4); };
  const std::string table = number(1, 4);
  EXPECT_EQ(danger_in(files, 2, 20, extension("IEOT", table + at(0) + number(2, 4) + at(2) + number(1, 4))),
            "");
  EXPECT_NE(danger_in(files, 2, 20, extension("IEOT", table + at(0) + number(2, 4) + at(1) + number(1, 4))),
            "");
  EXPECT_NE(danger_in(files, 2, 20, extension("IEOT", table + at(0) + number(2, 4))), "");
  EXPECT_NE(danger_in(files, 2, 20, extension("IEOT", number(2, 4) + at(0) + number(3, 4))), "");
  EXPECT_EQ(danger_in(files, 2, 20, extension("EOIE", at(3) + std::string(20, 'h'))), "");
  EXPECT_NE(danger_in(files, 2, 20, extension("EOIE", at(2) + std::string(20, 'h'))), "");
  const std::string one = index_of({{"a"}, {"dir/b"}}, 4);
  for (size_t length = 0; length < one.size(); ++length)
    EXPECT_TRUE(danger_in_git_index(one.substr(0, length), ObjectNames::sha1)) << length;
  EXPECT_TRUE(danger_in_git_index(index_of({{"a"}, {"b"}}, 2, 32), ObjectNames::sha1));
}

// Each entry would repeat the name before it.
TEST(GitIndex, NamesDoNotGrowWithoutEnd) {
  std::string text = "DIRC" + number(4, 4) + number(3, 4);
  for (int i = 0; i < 3; ++i) text += std::string(62, '\0') + '\0' + std::string(2000, 'x') + '\0';
  text += std::string(20, '\0');
  EXPECT_FALSE(is_same_index(text, text));
}

}  // namespace
}  // namespace cloche
