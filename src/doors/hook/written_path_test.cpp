// Paths that mean the same to every program, those that may not, and the files that a patch names.
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
      {"/e\xcc\x81", "may combine"},
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

using Files = std::vector<std::string>;

TEST(HookPatch, FilesInTheirOrder) {
  const std::pair<const char*, Files> rows[] = {
      {"", {}},
      {"*** Begin Patch\n*** End Patch", {}},
      {"*** Begin Patch\r\n*** Add File: a\r\n+x\r\n*** End Patch\r\n", {"a"}},
      {"*** Update File: a b\n*** Move to: c\n@@ f\n *x\n-y\n+ *** Add File: z\n*** End of File\n*** Delete "
       "File: d",
       {"a b", "c", "d"}},
      {"<<'EOF'\n*** Begin Patch\n*** Delete File: /e\n*** End Patch\nEOF", {"/e"}},
      {"+*** Add File: a\n-*** Add File: b\n** Add File: c", {}},
  };
  for (const auto& [patch, files] : rows) {
    const auto found = files_of_patch(patch);
    ASSERT_TRUE(found.ok()) << patch << found.error().what;
    EXPECT_EQ(found.value(), files) << patch;
  }
}

TEST(HookPatch, WhatOnlyLooksLikeAHeaderIsRefused) {
  for (const char* line : {" *** Add File: a",
                           "\t*** Delete File: a",
                           "\xc2\xa0*** Update File: a",
                           "\xe3\x80\x80*** Move to: a",
                           "\v*** Add File: a",
                           "\r*** Add File: a",
                           "*** Add File: a ",
                           "*** Add File: a\xc2\xa0",
                           "*** Add File: a\r\r",
                           "*** Add File:  a",
                           "*** Add File: ",
                           "*** Add File:a",
                           "*** add file: a",
                           "***  Add File: a",
                           "***Add File: a",
                           "*** Add File: ~/a",
                           "*** Add File: a\tb",
                           "*** Rename File: a",
                           "*** Environment ID: other",
                           " *** Begin Patch",
                           "*** End Patch ",
                           " *** End of File",
                           "***",
                           " *** of the file's own"}) {
    const std::string patch =
        "*** Begin Patch\n*** Add File: ok\n+x\n" + std::string(line) + "\n*** End Patch\n";
    EXPECT_FALSE(files_of_patch(patch).ok()) << line;
    EXPECT_FALSE(files_of_patch(line).ok()) << line;
  }
}

}  // namespace
}  // namespace cloche
