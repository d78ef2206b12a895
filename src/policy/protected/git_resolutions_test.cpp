// Which paths a MERGE_RR names, and which files are none.
#include "policy/protected/git_resolutions.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

using Paths = std::vector<std::string>;

const std::string id(40, 'a');
const std::string long_id(64, '0');

std::string record(const std::string& path, const std::string& conflict = id) {
  return conflict + "\t" + path + '\0';
}

TEST(GitResolutions, WhatGitWritesIsRead) {
  EXPECT_EQ(paths_in_merge_rr(""), Paths{});
  EXPECT_EQ(paths_in_merge_rr(record("a")), Paths{"a"});
  EXPECT_EQ(paths_in_merge_rr(record("a b/c\td\n", long_id + ".12") + record(".gitignore", id + ".1")),
            (Paths{"a b/c\td\n", ".gitignore"}));
}

TEST(GitResolutions, WhatGitDoesNotWriteIsNotRead) {
  const std::string whole = record("src/a", id + ".1");
  for (size_t length = 1; length < whole.size(); ++length)
    EXPECT_EQ(paths_in_merge_rr(whole.substr(0, length)), std::nullopt) << length;
  for (const char* path : {"", "/a", "../a", "a/../b", "a//b", "a/", "./a", ".", ".git/hooks/pre-commit",
                           "a/.GIT/config", "git~1/config", ".g\u200cit/config"})
    EXPECT_EQ(paths_in_merge_rr(record("a") + record(path)), std::nullopt) << path;
  for (const std::string& conflict :
       {std::string(), std::string(39, 'a'), std::string(41, 'a'), std::string(40, 'g'), std::string(40, 'A'),
        id + ".", id + ".0", id + ".01", id + ".-1", id + ".+1", id + ". 1", id + ".1 ", id + ".1.1",
        id + ".1000", id + ".a", id + " ", " " + id})
    EXPECT_EQ(paths_in_merge_rr(record("a", conflict)), std::nullopt) << conflict;
  EXPECT_EQ(paths_in_merge_rr(std::string(1, '\0')), std::nullopt);
}

}  // namespace

}  // namespace cloche
