#include "confine/supervise/escape_filter.hpp"

#include <gtest/gtest.h>

#include <random>

namespace cloche {
namespace {

using namespace std::string_literals;

std::string shown(std::string_view bytes) {
  EscapeFilter filter;
  std::string out;
  filter.pass(bytes, out);
  return out;
}

struct Row {
  const char* what;
  std::string bytes;
  std::string shown;
};

const Row rows[] = {
    {"plain text", "hello\r\n\tworld", "hello\r\n\tworld"},
    {"colours", "\x1b[31;1mred\x1b[0m", "\x1b[31;1mred\x1b[0m"},
    {"24-bit colour", "\x1b[38;2;1;2;3mx", "\x1b[38;2;1;2;3mx"},
    {"cursor movement", "\x1b[2J\x1b[1;1H\x1b[K", "\x1b[2J\x1b[1;1H\x1b[K"},
    {"private modes", "\x1b[?1049h\x1b[?25l", "\x1b[?1049h\x1b[?25l"},
    {"save and restore",
     "\x1b"
     "7\x1b"
     "8",
     "\x1b"
     "7\x1b"
     "8"},
    {"character set", "\x1b(B", "\x1b(B"},
    {"UTF-8 text", "grüße 漢字 🫙 é", "grüße 漢字 🫙 é"},
    {"UTF-8 whose bytes look like controls", "\xe2\x9d\x8c \xd0\x9d \xf0\x9f\x90\x9b",
     "\xe2\x9d\x8c \xd0\x9d \xf0\x9f\x90\x9b"},
    {"no-break space",
     "a\xc2\xa0"
     "b",
     "a\xc2\xa0"
     "b"},
    {"bell",
     "a\x07"
     "b",
     "a\x07"
     "b"},

    {"OSC title, ended by BEL",
     "a\x1b]0;title\x07"
     "b",
     "ab"},
    {"OSC title, ended by ST", "a\x1b]2;title\x1b\\b", "ab"},
    {"OSC clipboard", "\x1b]52;c;aGk=\x07", ""},
    {"OSC link", "\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\", "text"},
    {"OSC, ended by 8-bit ST",
     "a\x1b]0;t\x9c"
     "b",
     "ab"},
    {"OSC, ended by UTF-8 ST",
     "a\x1b]0;t\xc2\x9c"
     "b",
     "ab"},
    {"OSC, ended by CAN",
     "a\x1b]0;t\x18"
     "b",
     "ab"},
    {"OSC, ended by SUB",
     "a\x1b]0;t\x1a"
     "b",
     "ab"},
    {"OSC with UTF-8 inside",
     "\x1b]0;gr\xc3\xbc\xc3\x9f"
     "e\x07"
     "b",
     "b"},
    {"OSC never ended", "a\x1b]0;title and all that follows\n", "a"},
    {"DCS", "a\x1bP1$r0m\x1b\\b", "ab"},
    {"APC", "a\x1b_Gf=100;AAAA\x1b\\b", "ab"},
    {"PM", "a\x1b^message\x1b\\b", "ab"},
    {"SOS", "a\x1bXstring\x1b\\b", "ab"},

    {"8-bit OSC",
     "a\x9d"
     "0;title\x07"
     "b",
     "ab"},
    {"8-bit DCS",
     "a\x90q\x9c"
     "b",
     "ab"},
    {"8-bit APC",
     "a\x9fx\x9c"
     "b",
     "ab"},
    {"8-bit PM",
     "a\x9ex\x9c"
     "b",
     "ab"},
    {"8-bit SOS",
     "a\x98x\x9c"
     "b",
     "ab"},
    {"8-bit CSI is dropped, its letters are text",
     "a\x9b"
     "31mb",
     "a31mb"},
    {"a lone ST",
     "a\x9c"
     "b",
     "ab"},

    {"UTF-8 OSC",
     "a\xc2\x9d"
     "0;title\x07"
     "b",
     "ab"},
    {"UTF-8 DCS", "a\xc2\x90q\x1b\\b", "ab"},
    {"UTF-8 APC",
     "a\xc2\x9fx\xc2\x9c"
     "b",
     "ab"},
    {"UTF-8 PM",
     "a\xc2\x9ex\xc2\x9c"
     "b",
     "ab"},
    {"UTF-8 SOS",
     "a\xc2\x98x\xc2\x9c"
     "b",
     "ab"},
    {"UTF-8 CSI",
     "a\xc2\x9b"
     "31mb",
     "a31mb"},

    {"ESC twice before ]",
     "a\x1b\x1b]0;t\x07"
     "b",
     "ab"},
    {"a sequence ends a string and passes", "\x1b]0;t\x1b[31mred", "\x1b[31mred"},
    {"a string inside a string",
     "a\x1b]0;t\x1b]0;u\x07"
     "b",
     "ab"},
    {"a cut character before an OSC",
     "\xe2\x82\x1b]0;t\x07"
     "b",
     "\xe2\x82"
     "b"},
    {"a cut character before an 8-bit OSC in ASCII",
     "\xe2"
     "A\x9d"
     "0;t\x07"
     "b",
     "\xe2"
     "Ab"},
    {"an OSC in the middle of a colour",
     "\x1b[3\x1b]0;t\x07"
     "1m",
     "\x1b[31m"},
    {"overlong lead bytes hide nothing",
     "\xc0\x9d"
     "0;t\x07"
     "b",
     "\xc0"
     "b"},
    {"ESC at the end waits", "a\x1b", "a"},
};

TEST(EscapeFilter, TakesStringsOutAndLeavesTheRest) {
  for (const auto& row : rows) EXPECT_EQ(shown(row.bytes), row.shown) << row.what;
}

TEST(EscapeFilter, GivesTheSameWhereverItIsCut) {
  for (const auto& row : rows) {
    for (size_t first = 0; first <= row.bytes.size(); ++first) {
      for (size_t second = first; second <= row.bytes.size(); ++second) {
        EscapeFilter filter;
        std::string out;
        filter.pass(row.bytes.substr(0, first), out);
        filter.pass(row.bytes.substr(first, second - first), out);
        filter.pass(row.bytes.substr(second), out);
        ASSERT_EQ(out, row.shown) << row.what << " cut at " << first << " and " << second;
      }
    }
  }
}

TEST(EscapeFilter, GivesTheSameByteByByteForAnyBytes) {
  std::mt19937 random(5);
  const std::string alphabet =
      "\x1b\x1b]]PX^_\\[m;\x07\x18\x1a\n\x7f\x9d\x90\x9c\x9b\x80\xc2\xc2\xe2\xf0\xbf"
      "A"s;
  for (int i = 0; i < 2000; ++i) {
    std::string bytes;
    for (auto length = random() % 30; length > 0; --length) bytes += alphabet[random() % alphabet.size()];
    EscapeFilter filter;
    std::string out;
    for (char byte : bytes) filter.pass({&byte, 1}, out);
    ASSERT_EQ(out, shown(bytes));
  }
}

TEST(EscapeFilter, AddsNothingAndKeepsTheOrder) {
  std::mt19937 random(6);
  for (int i = 0; i < 500; ++i) {
    std::string bytes;
    for (auto length = random() % 60; length > 0; --length) bytes += static_cast<char>(random());
    const std::string out = shown(bytes);
    size_t at = 0;
    for (char byte : bytes) {
      if (at < out.size() && out[at] == byte) ++at;
    }
    EXPECT_EQ(at, out.size()) << "what is shown is a part of what was said, in its order";
  }
}

TEST(EscapeFilter, LeavesEveryUtf8CharacterAlone) {
  for (unsigned scalar = 0xa0; scalar < 0x10ffff; scalar += scalar < 0x3000 ? 1 : 251) {
    if (scalar >= 0xd800 && scalar < 0xe000) continue;
    std::string bytes;
    const auto tail = [scalar](int shift) { return static_cast<char>(0x80 | (scalar >> shift & 0x3f)); };
    if (scalar < 0x800) {
      bytes = {static_cast<char>(0xc0 | scalar >> 6), tail(0)};
    } else if (scalar < 0x10000) {
      bytes = {static_cast<char>(0xe0 | scalar >> 12), tail(6), tail(0)};
    } else {
      bytes = {static_cast<char>(0xf0 | scalar >> 18), tail(12), tail(6), tail(0)};
    }
    ASSERT_EQ(shown("<" + bytes + ">"), "<" + bytes + ">") << scalar;
  }
}

}  // namespace
}  // namespace cloche
