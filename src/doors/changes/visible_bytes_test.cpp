#include "doors/changes/visible_bytes.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

TEST(VisibleBytes, WritesOutWhatActsOrHides) {
  const std::pair<std::string, std::string> rows[] = {
      {"", ""},
      {"plain\ttext", "plain\ttext"},
      {"\x1b[2J", "\\u{1b}[2J"},
      {"a\rb\n", "a\\u{d}b\\u{a}"},
      {std::string("a\0b", 3), "a\\u{0}b"},
      {"\xff\xc3", "\\x{ff}\\x{c3}"},
      {"\xc2\x9b"
       "31m",
       "\\u{9b}31m"},
      {"if (\xe2\x80\xae x", "if (\\u{202e} x"},
      {"a\xe2\x80\x8b"
       "b",
       "a\\u{200b}b"},
      {"a\xc2\xa0"
       "b",
       "a\\u{a0}b"},
      {"a\xef\xb8\x8f", "a\\u{fe0f}"},
      {"\xe2\x9d\xa4\xef\xb8\x8f", "\xe2\x9d\xa4\xef\xb8\x8f"},  // a red heart
      {"\xf3\xa0\x84\x80", "\\u{e0100}"},
      {"\xcc\x81"
       "a",
       "\\u{301}a"},  // would stand on the sign of the diff
      {"e\xcc\x81", "e\xcc\x81"},
      {"e\xcc\x81\xcc\x81\xcc\x81\xcc\x81", "e\xcc\x81\xcc\x81\xcc\x81\\u{301}"},
      {"a\xcc\xb6", "a\\u{336}"},  // struck through
      {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
      {"\xd1\x80\xd0\xbe\xd1\x82", "\xd1\x80\xd0\xbe\xd1\x82"},              // a Russian word
      {"p\xd0\xb0ypal \xd1\x80\xd0\xbe", "p\\u{430}ypal \xd1\x80\xd0\xbe"},  // Cyrillic a among Latin
      {"\xd0\xb0"
       "dmin",
       "\\u{430}dmin"},
      {"adm\xd1\x96_\xd0\xb0", "adm\\u{456}_\\u{430}"},
      {"it\xe2\x80\x99s", "it\xe2\x80\x99s"},
      {"\xef\xbc\x9d\xef\xbd\x81"
       "b",
       "\\u{ff1d}\\u{ff41}b"},
      {"\\u{1b}", "\\u{5c}u{1b}"},
      {"\\x{ff} \\n \\u0041", "\\u{5c}x{ff} \\n \\u0041"},
      {"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"},
  };
  for (const auto& [line, visible] : rows) EXPECT_EQ(visible_line(line), visible);
  EXPECT_EQ(visible_line("a\x07", {"<", ">"}), "a<\\u{7}>");
}

TEST(VisibleBytes, QuotesNamesAsGit) {
  const std::pair<std::string, std::string> rows[] = {
      {"src/a b.cpp", "src/a b.cpp"},
      {"a\"b", "\"a\\\"b\""},
      {"a\\b", "\"a\\\\b\""},
      {"a\nb\x1b", "\"a\\nb\\033\""},
      {"gr\xc3\xbcn", "\"gr\\303\\274n\""},
      {"\xff\x7f", "\"\\377\\177\""},
  };
  for (const auto& [name, quoted] : rows) EXPECT_EQ(quoted_name(name), quoted);
  EXPECT_EQ(short_name("directory/file", 10), "...ry/file");
  EXPECT_EQ(short_name("file", 10), "file");
}

TEST(LookAlikes, FindsDeceivingNames) {
  const std::vector<std::string_view> paths = {
      "README",      // with the next but one
      "src/main.c",  //
      "R\xd0\x95"
      "ADME",                      // Cyrillic
      "\xd1\x80\xd0\xbe\xd1\x82",  // a Russian word
      "src/ma\xe2\x80\x8bin.h",    // a zero width space
      "a1",
      "al",
      "b",
      "gr\xc3\xbcn",
      "\xd1\x80\xd0\xbe\xd1\x82/english",
  };
  const std::vector<bool> deceiving = {true, false, true, false, true, true, true, false, false, false};
  EXPECT_EQ(deceiving_names(paths), deceiving);
  EXPECT_EQ(skeleton("\xf0\x9d\x90\x80\xef\xbd\x82\xf0\x9d\x9f\x8f"), "Abl");
}

TEST(LookAlikes, OnePathTwiceIsNoOther) {
  EXPECT_EQ(deceiving_names({"a", "a"}), (std::vector<bool>{false, false}));
}

}  // namespace
}  // namespace cloche
