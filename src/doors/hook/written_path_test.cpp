// Paths that mean the same to everybody, and those that may not.
#include "doors/hook/written_path.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

TEST(HookPath, WhatMeansTheSameToEverybody) {
  for (const char* path : {"/p/a", "a", "./~a", "a b/c", "a~", "src/$id.tsx", "./$id.tsx", "it's", "@scope/a",
                           "..", "gr\xc3\xbc\xc3\x9f", "\xe6\x96\x87", "c", "a:b", "-x", "/p/100%/a", "#a#"})
    EXPECT_TRUE(check_written_path(path).ok()) << path;
}

TEST(HookPath, WhatSomeAgentReadsOtherwise) {
  const std::pair<const char*, const char*> rows[] = {
      {"~", "home"},
      {"~/a", "home"},
      {"~root/a", "home"},
      {" /a", "white space"},
      {"/a ", "white space"},
      {"/a\t", "white space"},
      {"/a\n", "white space"},
      {"\xc2\xa0/a", "white space"},
      {"/a\xe2\x80\xa8", "white space"},
      {"\xe3\x80\x80~", "white space"},
      {"\xef\xbb\xbf/a", "white space"},
      {"/a\xc2\xa0"
       "b",
       "white space"},
      {"/a\nb", "control"},
      {"/a\x7f", "control"},
      {"/a\xc2\x9b", "control"},
      {"$HOME/a", "variable"},
      {"${HOME}/a", "variable"},
      {"\"/a\"", "quote"},
      {"'/a'", "quote"},
      {"`/a`", "quote"},
      {"file:///a", "URL"},
      {"FILE:/a", "URL"},
      {"C:\\a", "backslash"},
      {"C:/a", "Windows"},
      {"..\\a", "backslash"},
      {"/a\xff", "UTF-8"},
      {"/e\xcc\x81", "put together"},
  };
  for (const auto& [path, words] : rows) {
    const auto checked = check_written_path(path);
    ASSERT_FALSE(checked.ok()) << path;
    EXPECT_NE(checked.error().what.text().find(words), std::string::npos) << checked.error().what;
  }
  EXPECT_FALSE(check_written_path(std::string_view("a\0b", 3)).ok());
}

TEST(HookPath, SpaceAroundIsWhatAnyLanguageTrims) {
  const std::pair<const char*, const char*> rows[] = {
      {"", ""},
      {" ", ""},
      {" a b ", "a b"},
      {"\t\r\n\v\f a", "a"},
      {"\xc2\x85\xe1\x9a\x80\xe2\x80\x8a"
       "a\xe2\x81\x9f\xe3\x80\x80",
       "a"},
      {"a\xe3\x80", "a\xe3\x80"},
      {"\x80 a", "\x80 a"},
  };
  for (const auto& [text, rest] : rows) EXPECT_EQ(without_space_around(text), rest) << text;
}

TEST(HookPath, WhereAGlobBegins) {
  const std::pair<const char*, const char*> rows[] = {
      {"**", ""},         {"*.c", ""},        {"a/*.c", "a"},   {"a/b/{c,d}/e", "a/b"}, {"a/b", "a/b"},
      {"/etc/*", "/etc"}, {"/*", "/"},        {"/", "/"},       {"a[0-9]/b", ""},       {"a/{1..3}", "a"},
      {"a..b/*", "a..b"}, {"@a/b/*", "@a/b"}, {"./a/*", "./a"},
  };
  for (const auto& [glob, begins] : rows) {
    const auto found = where_glob_begins(glob);
    ASSERT_TRUE(found.ok()) << glob;
    EXPECT_EQ(found.value(), begins) << glob;
  }
  for (const char* glob :
       {"..", "../*", "a/../*", "{a,..}/*", "@(..|a)/*", "*/..", "~/*", "~", " *", "$HOME/*", "\\.\\./*"})
    EXPECT_FALSE(where_glob_begins(glob).ok()) << glob;
}

}  // namespace
}  // namespace cloche
