#include "policy/rules/globs.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace cloche {
namespace {

TEST(PathGlob, MatchesByComponents) {
  struct Row {
    const char* glob;
    const char* path;
    bool matches;
  };
  const Row rows[] = {
      {"*.py", "a.py", true},
      {"*.py", "deep/below/a.py", true},
      {"*.py", "a.pyc", false},
      {"*.py", "dir.py/x", false},
      {"src/*.py", "src/a.py", true},
      {"src/*.py", "src/deep/a.py", false},
      {"src/*.py", "other/src/a.py", false},
      {"./src/*.py", "src/a.py", true},
      {"/src/*.py", "src/a.py", true},
      {"src/**", "src", true},
      {"src/**", "src/a/b", true},
      {"src/**", "srca/b", false},
      {"**/a.py", "a.py", true},
      {"**/a.py", "x/y/a.py", true},
      {"src/**/a.py", "src/a.py", true},
      {"src/**/a.py", "src/x/y/a.py", true},
      {"src/**/a.py", "src/x/y/b.py", false},
      {"**/x/**/y", "a/x/b/x/c/y", true},
      {"**/x/*/y", "a/x/b/x/c/y", true},
      {"**/x/*/y", "x/b/c/y", false},
      {"a?c", "abc", true},
      {"a?c", "a/c", false},
      {"a**c", "abbc", true},
      {"*.{ts,tsx}", "a/b.tsx", true},
      {"*.{ts,tsx}", "a/b.js", false},
      {"{src,test}/**/*.{c,h}", "test/x/y.h", true},
      {"{a,b{c,d}}", "bd", true},
      {"{a,b{c,d}}", "b", false},
      {"{,x}a", "a", true},
      {"[id].tsx", "pages/[id].tsx", true},
      {"[id].tsx", "pages/i.tsx", false},
      {"*", "anything/at/all", true},
      {"**", "", true},
  };
  for (const auto& row : rows) {
    const auto glob = PathGlob::read(row.glob);
    ASSERT_TRUE(glob.ok()) << row.glob;
    EXPECT_EQ(glob.value().matches(row.path), row.matches) << row.glob << " on " << row.path;
  }
}

TEST(PathGlob, WhatCannotBeReadIsAnError) {
  std::string doubling;
  for (int i = 0; i < 20; ++i) doubling += "{a,b}";
  for (const std::string& text : {std::string("{a,b"), doubling, std::string(1025, 'a')})
    EXPECT_FALSE(PathGlob::read(text).ok()) << text;
}

TEST(PathGlob, StaysFastWhateverItSays) {
  std::string pattern;
  std::string path;
  for (int i = 0; i < 100; ++i) pattern += "**/*a*a*/";
  for (int i = 0; i < 800; ++i) path += "aaab/";
  const auto glob = PathGlob::read(pattern + "z");
  ASSERT_TRUE(glob.ok());
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(glob.value().matches(path));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
}

}  // namespace
}  // namespace cloche
