#include "base/text/utf8.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

TEST(Utf8, BytesThatAreNoneAreReplacedOneByOne) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"", ""},
      {"plain", "plain"},
      {"\u00e9\u4e2d\U0001f600", "\u00e9\u4e2d\U0001f600"},
      {"a\xff"
       "b",
       "a\ufffd"
       "b"},
      {"\xc3", "\ufffd"},
      {"\xe4\xb8", "\ufffd\ufffd"},
      {"\xc0\xaf", "\ufffd\ufffd"},                      // overlong
      {"\xed\xa0\x80", "\ufffd\ufffd\ufffd"},            // half a surrogate pair
      {"\xf5\x80\x80\x80", "\ufffd\ufffd\ufffd\ufffd"},  // past the last one
  };
  for (const auto& [bytes, text] : rows) EXPECT_EQ(utf8::with_replacements(bytes), text);
}

TEST(Utf8, WhatACutLeavesUnfinished) {
  const std::pair<std::string_view, size_t> rows[] = {
      {"", 0},           {"a", 0},         {"\u00e9", 0},           {"a\xc3", 1},
      {"a\xe4", 1},      {"a\xe4\xb8", 2}, {"\u4e2d", 0},           {"\xf0\x9f\x98", 3},
      {"\U0001f600", 0}, {"\xff", 0},  // begins nothing
      {"\xf5\x80", 0},   {"\xc1", 0},      {"\x80\x80\x80\x80", 0},
  };
  for (const auto& [bytes, tail] : rows) EXPECT_EQ(utf8::unfinished_tail(bytes), tail) << bytes;
}

TEST(Utf8, DecodesWhatIsGood) {
  const std::pair<std::string_view, unsigned> rows[] = {
      {"a", 'a'}, {"\u00e9", 0xe9}, {"\u4e2d", 0x4e2d}, {"\U0001f600", 0x1f600}};
  for (const auto& [bytes, code] : rows) {
    EXPECT_EQ(utf8::decode(bytes).value, code);
    EXPECT_EQ(utf8::decode(bytes).length, bytes.size());
    EXPECT_EQ(utf8::sequence_length(bytes), bytes.size());
  }
}

}  // namespace
}  // namespace cloche
