// What is read, what is refused and where, and that a value survives being written.
#include "base/json/json_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace cloche {
namespace {

using namespace std::string_literals;

std::string fault_of(std::string_view text, const JsonLimits& limits = {}) {
  const auto read = read_json(text, "f.json", limits);
  return read.ok() ? "accepted: " + to_json(read.value()) : read.error().what.text();
}

TEST(JsonText, ReadsWhatItWrites) {
  const std::pair<const char*, const char*> rows[] = {
      {"null", "null"},
      {" true ", "true"},
      {"false", "false"},
      {"0", "0"},
      {"-0", "-0"},
      {"1.50e+3", "1.50e+3"},
      {"9007199254740993", "9007199254740993"},
      {R"("a\u00e9\ud83e\uded9\n\/")", "\"a\u00e9\U0001fad9\\n/\""},
      {R"("\u0000")", R"("\u0000")"},
      {"[]", "[]"},
      {"[1, [2], {}]", "[1,[2],{}]"},
      {R"({"b": 1, "a": {"c": [null]}})", R"({"b":1,"a":{"c":[null]}})"},
      {"// first\n{ /* in */ \"a\" /* b */ : // c\n 1 } // last", R"({"a":1})"},
      {"/**/1/***/", "1"},
      {"1 // no newline", "1"},
  };
  for (const auto& [text, written] : rows) {
    const auto read = read_json(text, "");
    ASSERT_TRUE(read.ok()) << text << ": " << read.error().what;
    EXPECT_EQ(to_json(read.value()), written);
    const auto again = read_json(to_json(read.value()), "");
    ASSERT_TRUE(again.ok()) << text;
    EXPECT_EQ(canonical_json(again.value()), canonical_json(read.value()));
  }
}

TEST(JsonText, RefusesWithTheLine) {
  const std::pair<std::string, const char*> rows[] = {
      {"", "f.json:1: expected a value, not the end of the text"},
      {"\n\n{\"a\": 1,\n \"b\": 2,\n \"a\": 3}", "f.json:5: the key \"a\" is here twice; first on line 3"},
      {R"({"a": 1, "\u0061": 2})", "f.json:1: the key \"a\" is here twice; first on line 1"},
      {"[1,\n2,\n]", "f.json:3: a comma before ]"},
      {"{\"a\": 1,}", "f.json:1: a comma before }"},
      {"[,1]", "f.json:1: expected a value, not \",\""},
      {"[1 2]", "f.json:1: expected , or ] in an array, not \"2\""},
      {"{\"a\" 1}", "f.json:1: expected : after the key \"a\""},
      {"{a: 1}", "f.json:1: expected a key in quotes, not \"a\""},
      {"{\"a\": 1", "f.json:1: expected , or } in an object, not the end of the text"},
      {"[1", "f.json:1: expected , or ] in an array, not the end of the text"},
      {"NaN", "f.json:1: expected a value, not \"N\""},
      {"Infinity", "f.json:1: expected a value, not \"I\""},
      {"-Infinity", "f.json:1: a number that JSON does not have"},
      {"+1", "f.json:1: expected a value, not \"+\""},
      {"01", "f.json:1: a number that JSON does not have"},
      {"1.", "f.json:1: a number that JSON does not have"},
      {".5", "f.json:1: expected a value, not \".\""},
      {"1e", "f.json:1: a number that JSON does not have"},
      {"1.2.3", "f.json:1: a number that JSON does not have"},
      {"0x10", "f.json:1: there is something after the end of the value: \"x\""},
      {"1e999", "f.json:1: a number out of range"},
      {"nullx", "f.json:1: there is something after the end of the value: \"x\""},
      {"1 2", "f.json:1: there is something after the end of the value: \"2\""},
      {"'a'", "f.json:1: expected a value, not \"'\""},
      {"\"a", "f.json:1: a string that does not end"},
      {"\"a\\", "f.json:1: an escape that JSON does not have: \\ and the end of the text"},
      {"\"\\x41\"", "f.json:1: an escape that JSON does not have: \\ and \"x\""},
      {"\"\\u12g4\"", "f.json:1: \\u needs four hexadecimal digits"},
      {"\"\\u12", "f.json:1: \\u needs four hexadecimal digits"},
      {R"("\ud800")", "f.json:1: the first half of a surrogate pair alone"},
      {R"("\ud800\u0041")", "f.json:1: the first half of a surrogate pair alone"},
      {R"("\udc00")", "f.json:1: the second half of a surrogate pair alone"},
      {"\"a\nb\"", "f.json:1: a control character in a string; write it as \\u00XX"},
      {"\"a\0b\""s, "f.json:1: a control character in a string; write it as \\u00XX"},
      {"[1]\0"s, "f.json:1: there is something after the end of the value: \"\\u0000\""},
      {"[\n\"\xff\"]", "f.json:2: bytes that are not UTF-8"},
      {"// \xc0\xaf\n1", "f.json:1: bytes that are not UTF-8"},
      {"\xef\xbb\xbf{}", "f.json:1: a byte order mark before the value"},
      {"/* a", "f.json:1: a comment that does not end"},
      {"/ 1", "f.json:1: expected a comment after /"},
      {"/* \n /* */ */ 1", "f.json:2: expected a value, not \"*\""},
      {"# 1", "f.json:1: expected a value, not \"#\""},
  };
  for (const auto& [text, why] : rows) EXPECT_EQ(fault_of(text), why) << text;
}

TEST(JsonText, CommentsAreNotForCalls) {
  EXPECT_EQ(fault_of("{} // a", call_limits), "f.json:1: a comment is not JSON");
  EXPECT_EQ(fault_of(R"({"a": "// text"})", call_limits), R"(accepted: {"a":"// text"})");
}

TEST(JsonText, WithoutAFileTheLineAlone) {
  EXPECT_EQ(read_json("\n]", "").error().what.text(), "line 2: expected a value, not \"]\"");
}

TEST(JsonText, EveryLimitRefuses) {
  const std::string deep = std::string(64, '[') + std::string(64, ']');
  EXPECT_TRUE(read_json(deep, "").ok());
  EXPECT_EQ(fault_of("[" + deep + "]"), "f.json:1: nested deeper than 64");
  EXPECT_EQ(fault_of(std::string(1'000'000, '[')), "f.json:1: nested deeper than 64");
  EXPECT_EQ(fault_of("[1,2,3]", {.values = 3}), "f.json:1: more than 3 values");
  EXPECT_TRUE(read_json("[1,2,3]", "", {.values = 4}).ok());
  EXPECT_EQ(fault_of("[1,2,3]", {.bytes = 6}), "f.json:1: longer than 6 bytes");
  EXPECT_TRUE(read_json("[1,2,3]", "", {.bytes = 7}).ok());
}

TEST(JsonText, EveryValueKnowsItsLine) {
  const auto read = read_json("{\n\"a\":\n[1,\n2], /*\n\n*/ \"b\": {}\n}", "");
  ASSERT_TRUE(read.ok()) << read.error().what;
  const JsonValue& root = read.value();
  EXPECT_EQ(root.line, 1);
  EXPECT_EQ(root.members[0].line, 2);
  EXPECT_EQ(root.find("a")->line, 3);
  EXPECT_EQ(root.find("a")->items[1].line, 4);
  EXPECT_EQ(root.members[1].line, 6);
  EXPECT_EQ(root.find("c"), nullptr);
  EXPECT_EQ(root.find("a")->find("x"), nullptr);
}

TEST(JsonText, KnowsWholeNumbers) {
  struct Row {
    const char* text;
    bool whole;
    int64_t integer;
  };
  const Row rows[] = {
      {"1", true, 1},
      {"1.0", true, 1},
      {"-0", true, 0},
      {"-0.0", true, 0},
      {"1e2", true, 100},
      {"1.5", false, 0},
      {"9223372036854775807", true, INT64_MAX},
      {"-9223372036854775808", true, INT64_MIN},
      {"9223372036854775808", false, 0},
      {"1e300", false, 0},
      {"0.1", false, 0},
      {"9007199254740993.0", true, 9007199254740993},
      {"0.99999999999999999999", false, 0},
      {"9007199254740992.5", false, 0},
  };
  for (const auto& row : rows) {
    const auto read = read_json(row.text, "");
    ASSERT_TRUE(read.ok()) << row.text;
    EXPECT_EQ(read.value().whole, row.whole) << row.text;
    if (row.whole) {
      EXPECT_EQ(read.value().integer, row.integer) << row.text;
    }
  }
}

TEST(JsonText, OneCanonicalTextForOneValue) {
  const auto canonical = [](const char* text) { return canonical_json(read_json(text, "").value()); };
  EXPECT_EQ(canonical(R"({"b": 1.0, "a": [1e1, "\u0041"]})"), R"({"a":[10,"A"],"b":1})");
  EXPECT_EQ(canonical("0.10"), canonical("1e-1"));
  EXPECT_EQ(canonical("-0"), canonical("0.0"));
  EXPECT_NE(canonical("9007199254740993"), canonical("9007199254740992"));
  EXPECT_NE(canonical("\"1\""), canonical("1"));
  EXPECT_NE(canonical("[]"), canonical("{}"));
  EXPECT_NE(canonical("[1,2]"), canonical("[2,1]"));
}

}  // namespace
}  // namespace cloche
