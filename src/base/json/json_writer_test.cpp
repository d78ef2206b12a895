// Escaping by RFC 8259, UTF-8 by RFC 3629, and the two layouts.
#include "base/json/json_writer.hpp"

#include <gtest/gtest.h>

#include <string>

namespace cloche {
namespace {

using namespace std::string_literals;

constexpr const char* replacement = "\xef\xbf\xbd";

struct Quoted {
  std::string text;
  std::string json;
};

TEST(JsonQuote, EscapesWhatJsonCannotHold) {
  const Quoted rows[] = {
      {"", R"("")"},
      {"plain", R"("plain")"},
      {"say \"hi\"", R"("say \"hi\"")"},
      {"back\\slash", R"("back\\slash")"},
      {"a/b", R"("a/b")"},
      {"line\nreturn\rtab\t", R"("line\nreturn\rtab\t")"},
      {"\b\f\v\a", R"("\u0008\u000c\u000b\u0007")"},
      {"\x1b[31m", R"("\u001b[31m")"},
      {"\x7f", R"("\u007f")"},
      {"nul\0inside"s, R"("nul\u0000inside")"},
      {"grüße, мир, 漢字, 🫙", "\"grüße, мир, 漢字, 🫙\""},
      {"</script>", R"("</script>")"},
      {"\xc2\x9b"
       "31m",
       R"("\u009b31m")"},
      {"\xe2\x80\xae", R"("\u202e")"},
      {"\xf3\xa0\x81\x81", R"("\udb40\udc41")"},
  };
  for (const auto& [text, json] : rows) EXPECT_EQ(json_quote(text), json);
}

TEST(JsonQuote, LeavesNoControlCharacterAsItIs) {
  for (int byte = 0; byte < 0x20; ++byte) {
    const std::string quoted = json_quote(std::string(1, static_cast<char>(byte)));
    for (char c : quoted) EXPECT_GE(static_cast<unsigned char>(c), 0x20) << "byte " << byte;
    EXPECT_EQ(quoted[1], '\\') << "byte " << byte;
  }
}

TEST(JsonOnOneLine, KeepsItsMeaningAndNothingThatATerminalActsOn) {
  const Quoted rows[] = {
      {"{\n  \"a\": 1\r\n}\n", "{   \"a\": 1  } "},
      {"[\"\xc2\x9b\", \"\x7f\", \"gr\xc3\xbc\xc3\x9f\"]",
       "[\"\\u009b\", \"\\u007f\", \"gr\xc3\xbc\xc3\x9f\"]"},
      {R"(["\n\u001b"])", R"(["\n\u001b"])"},
  };
  for (const auto& [json, line] : rows) EXPECT_EQ(json_on_one_line(json), line);
}

struct Sequence {
  std::string bytes;
  bool good;
  const char* why;
};

const Sequence sequences[] = {
    {"\x7f", true, "the last of one byte"},
    {"\x80", false, "a lone continuation"},
    {"\xbf", false, "a lone continuation"},
    {"\xc0\x80", false, "overlong NUL"},
    {"\xc0\xaf", false, "overlong slash"},
    {"\xc1\xbf", false, "the last overlong of two bytes"},
    {"\xc2\x80", true, "the first of two bytes"},
    {"\xdf\xbf", true, "the last of two bytes"},
    {"\xc2", false, "cut after one of two"},
    {"\xc2\x7f", false, "no continuation"},
    {"\xc2\xc0", false, "a lead where a continuation belongs"},
    {"\xe0\x80\x80", false, "overlong NUL in three bytes"},
    {"\xe0\x9f\xbf", false, "the last overlong of three bytes"},
    {"\xe0\xa0\x80", true, "the first of three bytes"},
    {"\xed\x9f\xbf", true, "the last before the surrogates"},
    {"\xed\xa0\x80", false, "the first surrogate"},
    {"\xed\xbf\xbf", false, "the last surrogate"},
    {"\xee\x80\x80", true, "the first after the surrogates"},
    {"\xef\xbf\xbf", true, "the last of three bytes"},
    {"\xe2\x82", false, "cut after two of three"},
    {"\xe2\x28\xa1", false, "the second of three is no continuation"},
    {"\xe2\x82\x28", false, "the third of three is no continuation"},
    {"\xf0\x80\x80\x80", false, "overlong NUL in four bytes"},
    {"\xf0\x8f\xbf\xbf", false, "the last overlong of four bytes"},
    {"\xf0\x90\x80\x80", true, "the first of four bytes"},
    {"\xf4\x8f\xbf\xbf", true, "U+10FFFF, the last of all"},
    {"\xf4\x90\x80\x80", false, "past U+10FFFF"},
    {"\xf5\x80\x80\x80", false, "a lead that can only be past the end"},
    {"\xf0\x9f\x98", false, "cut after three of four"},
    {"\xf0\x9f\x98\x28", false, "the fourth of four is no continuation"},
    {"\xf8\x88\x80\x80\x80", false, "five bytes"},
    {"\xfe", false, "never a lead"},
    {"\xff", false, "never a lead"},
};

TEST(Utf8, EveryBoundaryOfEveryLength) {
  for (const auto& [bytes, good, why] : sequences) {
    EXPECT_EQ(is_utf8(bytes), good) << why;
    for (size_t before = 0; before < 20; ++before)
      EXPECT_EQ(is_utf8(std::string(before, 'x') + bytes + "after"), good) << why;
  }
}

TEST(Utf8, ReplacesEachBadByteAndNothingElse) {
  for (const auto& [bytes, good, why] : sequences) {
    const std::string quoted = json_quote("<" + bytes + ">");
    EXPECT_TRUE(is_utf8(quoted)) << why;
    EXPECT_EQ(quoted.find(replacement) != std::string::npos, !good) << why;
    EXPECT_EQ(quoted.substr(0, 2), "\"<") << why;
    EXPECT_EQ(quoted.substr(quoted.size() - 2), ">\"") << why;
  }
  EXPECT_EQ(json_quote("\xed\xa0\x80"), "\""s + replacement + replacement + replacement + "\"");
  EXPECT_EQ(json_quote("\xe2\x82"
                       "A"),
            "\""s + replacement + replacement + "A\"");
}

// Decodes what every pair of bytes means, by the definition and not by our table.
TEST(Utf8, EveryPairOfBytes) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const bool two_plain = first < 0x80 && second < 0x80;
      const int scalar = (first & 0x1f) << 6 | (second & 0x3f);
      const bool one_character =
          (first & 0xe0) == 0xc0 && (second & 0xc0) == 0x80 && scalar >= 0x80 && scalar <= 0x7ff;
      const char bytes[] = {static_cast<char>(first), static_cast<char>(second)};
      EXPECT_EQ(is_utf8({bytes, 2}), two_plain || one_character) << first << " " << second;
    }
  }
}

// A list, an empty list, an object in a list, null, numbers and truth: the whole grammar.
std::string written(JsonWriter::Layout layout) {
  JsonWriter out(layout);
  out.begin_object()
      .member("name", "cloche")
      .member("count", 3)
      .member("big", ~uint64_t{0})
      .member("less", -7);
  out.member("yes", true).member("text", std::string("a\"b")).key("none").null();
  out.key("empty").begin_array().end_array().key("nothing").begin_object().end_object();
  out.key("list")
      .begin_array()
      .value(1)
      .value("two")
      .begin_object()
      .member("three", 3)
      .end_object()
      .end_array();
  return out.key("raw").raw("[1,2]").end_object().text();
}

TEST(JsonWriter, CompactHasNoSpaceAtAll) {
  EXPECT_EQ(written(JsonWriter::Layout::compact),
            R"({"name":"cloche","count":3,"big":18446744073709551615,"less":-7,"yes":true,"text":"a\"b",)"
            R"("none":null,"empty":[],"nothing":{},"list":[1,"two",{"three":3}],"raw":[1,2]})");
}

TEST(JsonWriter, IndentedPutsEveryElementOnItsLine) {
  EXPECT_EQ(written(JsonWriter::Layout::indented), R"({
  "name": "cloche",
  "count": 3,
  "big": 18446744073709551615,
  "less": -7,
  "yes": true,
  "text": "a\"b",
  "none": null,
  "empty": [],
  "nothing": {},
  "list": [
    1,
    "two",
    {
      "three": 3
    }
  ],
  "raw": [1,2]
})");
}

TEST(JsonWriter, KeysAreQuotedToo) {
  JsonWriter out;
  out.begin_object().member("a\"\n\xff", "x").end_object();
  EXPECT_EQ(out.text(), "{\"a\\\"\\n"s + replacement + "\":\"x\"}");
}

TEST(JsonWriter, TextIsNotMistakenForTruth) {
  JsonWriter out;
  const std::string_view view = "view";
  out.begin_array().value("literal").value(view).value(std::string("string")).value(false).end_array();
  EXPECT_EQ(out.text(), R"(["literal","view","string",false])");
}

}  // namespace
}  // namespace cloche
