#include "confine/supervise/escape_filter.hpp"

#include <gtest/gtest.h>

#include <random>

namespace cloche {
namespace {

using namespace std::string_literals;

std::string shown(std::string_view bytes) {
  EscapeFilter filter(Answers::reach_command);
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
    {"an OSC in the middle of a colour, which it ends",
     "\x1b[3\x1b]0;t\x07"
     "1m",
     "1m"},
    {"overlong lead bytes hide nothing",
     "\xc0\x9d"
     "0;t\x07"
     "b",
     "\xc0"
     "b"},
    {"ESC at the end waits", "a\x1b", "a"},
    {"a sequence that is not whole", "a\x1b[?1003", "a"},
    {"a character set that is not whole", "a\x1b(", "a"},
    {"a control character ends a sequence", "\x1b[3\n1m", "\n1m"},
    {"CAN ends a sequence", "\x1b[6\x18n", "\x18n"},
    {"DEL ends a sequence",
     "\x1b[\x7f"
     "6n",
     "\x7f"
     "6n"},
    {"one sequence in another", "\x1b[\x1b[31m", "\x1b[31m"},
    {"far too long", "\x1b[" + std::string(300, '1') + "mb", "b"},
    {"a prefix where none belongs", "\x1b[1?2hb", "b"},

    {"questions whose answers programs read", "\x1b[6n\x1b[c\x1b[>c\x1b[>q\x1b[?1$p\x1b[?u\x1b[14t",
     "\x1b[6n\x1b[c\x1b[>c\x1b[>q\x1b[?1$p\x1b[?u\x1b[14t"},
    {"titles stored and taken back", "\x1b[22;0;0t\x1b[23;0;0t", "\x1b[22;0;0t\x1b[23;0;0t"},
    {"the title as an answer", "\x1b[21tb\x1b[20t\x1b[0021t", "b"},
    {"the title of a terminal as an answer, behind an empty number", "\x1b[;21tb", "\x1b[;21tb"},
    {"ENQ",
     "a\x05"
     "b\x1b[3\x05"
     "1m",
     "ab1m"},
    {"what terminal it is, as of old", "\x1bZb", "b"},
    {"to a printer", "\x1b[5i\x1b[?5i\x1b[i\x1b[0;5ib", "b"},
    {"locks the keyboard", "\x1b[2h\x1b[4;2hb", "b"},
    {"becomes a VT52", "\x1b[?2l\x1b[?25;2lb", "b"},
    {"sums of the screen", "\x1b[1;1;1;1;1;1*yb", "b"},
    {"answers in 8 bits", "\x1b Gb", "b"},
    {"leaving UTF-8", "\x1b%@b", "b"},
    {"state as a string", "\x1b[1$w\x1b[1$u\x1b[1&ub", "b"},
};

TEST(EscapeFilter, ResetsWhatIsLeftAtTheEnd) {
  const struct {
    const char* what;
    std::string bytes;
    std::string resets;
  } left[] = {
      {"nothing", "text\r\n", ""},
      {"colours taken back", "\x1b[31mred\x1b[0m \x1b[1mbold\x1b[m", ""},
      {"colours left", "\x1b[8mhidden", "\x1b[m"},
      {"mouse", "\x1b[?1000h\x1b[?1003;1006h", "\x1b[?1000l\x1b[?1003l\x1b[?1006l"},
      {"mouse taken back", "\x1b[?1000h\x1b[?1003;1006h\x1b[?1006;1003;1000l", ""},
      {"more mouse", "\x1b[?9;1001;1002;1005;1015;1016h",
       "\x1b[?9l\x1b[?1001l\x1b[?1002l\x1b[?1005l\x1b[?1015l\x1b[?1016l"},
      {"one of several taken back", "\x1b[?1004;2004h\x1b[?2004l", "\x1b[?1004l"},
      {"stored modes brought back", "\x1b[?1003h\x1b[?1003s\x1b[?1003l\x1b[?1003r", "\x1b[?1003l"},
      {"cursor hidden", "\x1b[?25l", "\x1b[?25h"},
      {"cursor shown again", "\x1b[?25l\x1b[?25h", ""},
      {"alternate screens", "\x1b[?47h\x1b[?1047h\x1b[?1049h", "\x1b[?47l\x1b[?1047l\x1b[?1049l"},
      {"alternate screen left last", "\x1b[?1049h\x1b[?2004h", "\x1b[?2004l\x1b[?1049l"},
      {"keyboard of kitty", "\x1b[>1u\x1b[>5u\x1b[=1;1u", "\x1b[<2u\x1b[=0u"},
      {"keyboard of kitty taken back", "\x1b[>1u\x1b[>5u\x1b[<2u", ""},
      {"keyboards of both screens", "\x1b[>1u\x1b[?1049h\x1b[>1u\x1b[>1u", "\x1b[<2u\x1b[?1049l\x1b[<1u"},
      {"codes of keys", "\x1b[>4;2m", "\x1b[>4m"},
      {"codes of keys taken back", "\x1b[>4;2m\x1b[>4;m", ""},
      {"keys of applications", "\x1b[?1h\x1b=", "\x1b[?1l\x1b>"},
      {"keys of applications taken back", "\x1b[?1h\x1b=\x1b[?1l\x1b>", ""},
      {"insert, line feeds, echo", "\x1b[4h\x1b[20h\x1b[12l", "\x1b[4l\x1b[12h\x1b[20l"},
      {"margins", "\x1b[3;4r",
       "\x1b"
       "7\x1b[r\x1b"
       "8"},
      {"lines for letters", "\x1b(0\x0e", "\x1b(B\x0f"},
      {"lines for letters taken back", "\x1b(0\x0e\x0f\x1b(B", ""},
      {"cut, and never whole", "\x1b[?1003", ""},
      {"in a string", "\x1b]0;\x9b?1003h\x07", ""},
  };
  for (const auto& row : left) {
    EscapeFilter filter(Answers::reach_command);
    std::string out;
    for (char byte : row.bytes) filter.pass({&byte, 1}, out);
    EXPECT_EQ(filter.resets(), row.resets) << row.what;
    filter.pass(filter.resets(), out);
    EXPECT_EQ(filter.resets(), "") << row.what << ": they take back everything";
  }
}

TEST(EscapeFilter, KeepsQuestionsWhereTheirAnswersWouldReachOthers) {
  for (const char* question : {"\x1b[6n", "\x1b[?6n", "\x1b[c", "\x1b[>c", "\x1b[=c", "\x1b[>q", "\x1b[?1$p",
                               "\x1b[4$p", "\x1b[?u", "\x1b[14t", "\x1b[x", "\x1b[?4m", "\x1b[?996n"}) {
    EscapeFilter to_command(Answers::reach_command);
    EscapeFilter to_others(Answers::reach_others);
    std::string out;
    to_others.pass(question, out);
    EXPECT_EQ(out, "") << question;
    EXPECT_FALSE(to_others.take_asked());
    to_command.pass(question, out);
    EXPECT_EQ(out, question);
    EXPECT_TRUE(to_command.take_asked()) << question;
    EXPECT_FALSE(to_command.take_asked());
  }
  for (const char* other :
       {"text", "\x1b[31m", "\x1b[2 q", "\x1b[u", "\x1b[8;10;10t", "\x1b[!p", "\x1b[>4;2m"}) {
    EscapeFilter to_others(Answers::reach_others);
    std::string out;
    to_others.pass(other, out);
    EXPECT_EQ(out, other);
    EXPECT_FALSE(to_others.take_asked());
  }
}

TEST(EscapeFilter, TakesStringsOutAndLeavesTheRest) {
  for (const auto& row : rows) EXPECT_EQ(shown(row.bytes), row.shown) << row.what;
}

TEST(EscapeFilter, GivesTheSameWhereverItIsCut) {
  for (const auto& row : rows) {
    for (size_t first = 0; first <= row.bytes.size(); ++first) {
      for (size_t second = first; second <= row.bytes.size(); ++second) {
        EscapeFilter filter(Answers::reach_command);
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
    EscapeFilter filter(Answers::reach_command);
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
