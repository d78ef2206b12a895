// Tables: what is read and how it is typed, and what is refused with its line.
#include "base/json/yaml_text.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

std::string answer(const std::string& text, const YamlLimits& limits = {}) {
  const auto read = read_yaml(text, "s", limits);
  return read.ok() ? to_json(read.value()) : read.error().what.text();
}

struct Row {
  std::string text;
  std::string answer;
};

TEST(YamlText, ReadsByTheCoreSchema) {
  const Row rows[] = {
      {"", "null"},
      {"# a comment alone\n", "null"},
      {"a: 1\nb: [x, 'y', \"z\"]\n", R"({"a":1,"b":["x","y","z"]})"},
      {"a:\n- 1\n- b: 2\n  c: 3\n", R"({"a":[1,{"b":2,"c":3}]})"},
      {"[yes, no, on, off, y, n]", R"(["yes","no","on","off","y","n"])"},
      {"[true, True, TRUE, false, False, FALSE, tRUE]", R"([true,true,true,false,false,false,"tRUE"])"},
      {"[null, Null, NULL, ~, nULL]", R"([null,null,null,null,"nULL"])"},
      {"['true', \"null\", '12', \"~\", '']", R"(["true","null","12","~",""])"},
      {"[0, -0, 12, +12, 012, -7]", "[0,-0,12,12,12,-7]"},
      {"[0x1f, 0o17, 0x, 0o8, 0x-1, -0x1]", R"([31,15,"0x","0o8","0x-1","-0x1"])"},
      {"[1.5, .5, 1., 1.e3, -.5e-2, 1e3, 1E+3]", "[1.5,0.5,1.0,1.0e3,-0.5e-2,1e3,1e+3]"},
      {"[., -, +, e3, 1e, 1.2.3, 1_000, 12:30]", R"([".","-","+","e3","1e","1.2.3","1_000","12:30"])"},
      {"d: 2001-12-14", R"({"d":"2001-12-14"})"},
      {"a: |\n  one\n  two\nb: >\n  one\n  two\n", R"({"a":"one\ntwo\n","b":"one two\n"})"},
      {"a:\nb: {}\nc: []\n", R"({"a":null,"b":{},"c":[]})"},
      {"a: !!str 12\nb: !!int 12\nc: !!float 1\nd: !!bool true\n", R"({"a":"12","b":12,"c":1,"d":true})"},
      {"a: !!seq [1]\nb: !!map {c: 1}\n", R"({"a":[1],"b":{"c":1}})"},
      {"a: x\r\nb: y\r\n", R"({"a":"x","b":"y"})"},
      {R"(a: "\x41\u00e4\U0001f600\t\e")", "{\"a\":\"A\xC3\xA4\xF0\x9F\x98\x80\\t\\u001b\"}"},
      {"? a\n: b\n", R"({"a":"b"})"},
      {"---\na: 1\n...\n", R"({"a":1})"},
      {"plain", R"("plain")"},
      {"a: |+\n  x\n\nb: 1\n", R"({"a":"x\n\n","b":1})"},
      {"a: |+\n  x\n\n", R"({"a":"x\n\n"})"},
      {"a: b # c", R"({"a":"b"})"},
      {"\n\n", "null"},
  };
  for (const auto& row : rows) EXPECT_EQ(answer(row.text), row.answer) << row.text;
}

TEST(YamlText, RefusesWithTheLine) {
  const Row rows[] = {
      {"a: 1\nb: &x 2\n", "s:2: anchors (&x) are not read here"},
      {"a: &x 1\nb: *x\n", "s:1: anchors (&x) are not read here"},
      {"a: 1\na: 2\n", "s:2: the key \"a\" is given twice"},
      {"a:\n  b: 1\n  'b': 2\n", "s:3: the key \"b\" is given twice"},
      {"1: a\n", "s:1: a key must be a string, not number: quote it"},
      {"a: b\ntrue: a\n", "s:2: a key must be a string, not boolean: quote it"},
      {"~: a\n", "s:1: a key must be a string, not null: quote it"},
      {"? [a]\n: b\n", "s:1: a key must be a string"},
      {"{{a: b}: c}\n", "s:1: a key must be a string"},
      {"a: 1\n---\nb: 2\n", "s:2: there is a second document"},
      {"<<: {a: 1}\n", "s:1: merge keys (<<) are not read here"},
      {"b:\n  - \"<<\": [{a: 1}]\n", "s:2: merge keys (<<) are not read here"},
      {"a: !mine b\n", "s:1: the tag \"!mine\" is not known, or does not fit the value"},
      {"a: !!binary b\n",
       "s:1: the tag \"tag:yaml.org,2002:binary\" is not known, or does not fit the value"},
      {"a: !!int b\n", "s:1: the tag \"tag:yaml.org,2002:int\" is not known, or does not fit the value"},
      {"a: !!set {b: }\n", "s:1: the tag \"tag:yaml.org,2002:set\" is not known"},
      {"a: .inf\n", "s:1: .inf is no number that can be used"},
      {"a: -.INF\n", "s:1: -.INF is no number that can be used"},
      {"a: .nan\n", "s:1: .nan is no number that can be used"},
      {"a: 1e999\n", "s:1: the number 1e999 does not fit"},
      {R"(a: "\N")", "s:1: an escape in this string is not UTF-8"},
      {R"("\_": a)", "s:1: an escape in this string is not UTF-8"},
      {"a: \xff\n", "s:1: it is not UTF-8"},
      {std::string("a: 1\nb: \0", 9), "s:2: there is a control character"},
      {"a: 1\nb: \x04rest\n", "s:2: there is a control character"},
      {"a: 1\nb: \"\x1b[2J\"\n", "s:2: there is a control character"},
  };
  for (const auto& row : rows) EXPECT_EQ(answer(row.text), row.answer) << row.text;
}

TEST(YamlText, WhatDoesNotParseSaysWhere) {
  for (const char* text :
       {"a: 1\nb: [1, 2\n", "a: 1\n\tb: 2\n", "a: 1\nb: 'x\n", "a: 1\nb: \"x", "a: 'x\nb: y\n",
        "a: 1\nb: *nobody\n", "a: 1\n b: 2\n", "a: 1\n%TAG\n", "x: {a: 1\n"}) {
    const std::string said = answer(text);
    EXPECT_TRUE(said.starts_with("s:")) << text << said;
    EXPECT_FALSE(said.starts_with("s:0")) << text << said;
  }
}

TEST(YamlText, LinesCountFromTheFirst) {
  EXPECT_EQ(answer("a: 1\na: 2\n", {.first_line = 5}), "s:6: the key \"a\" is given twice");
  const auto read = read_yaml("a: 1\nb:\n- 2\n", "s", {.first_line = 2});
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.value().find("a")->line, 2);
  EXPECT_EQ(read.value().members[1].line, 3);
  EXPECT_EQ(read.value().find("b")->items[0].line, 4);
}

std::string repeated(const std::string& text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

TEST(YamlText, IsBounded) {
  EXPECT_EQ(answer("a: " + std::string((64 << 10) - 3, 'x')).size(), (64 << 10) + 5 - 0U);
  EXPECT_EQ(answer("a: " + std::string((64 << 10) - 2, 'x')), "s:1: it is longer than 65536 bytes");
  EXPECT_EQ(answer(repeated("[", 32) + repeated("]", 32)), repeated("[", 32) + repeated("]", 32));
  EXPECT_EQ(answer(repeated("[", 33) + repeated("]", 33)), "s:1: it is nested more than 32 deep");
  EXPECT_EQ(answer(repeated("[", 60'000)).substr(0, 2), "s:");
  EXPECT_EQ(answer(repeated("- ", 30'000)).substr(0, 2), "s:");
  EXPECT_EQ(answer(repeated("? ", 30'000)).substr(0, 2), "s:");
  EXPECT_TRUE(answer("[" + repeated("1,", 9'999) + "]").starts_with("[1,"));
  EXPECT_EQ(answer("[" + repeated("1,", 10'000) + "]"), "s:1: there are more than 10000 values");
}

// A few lines that would be billions of values.
TEST(YamlText, ABombOfAliasesIsRefusedAtItsFirstAnchor) {
  std::string bomb = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 40; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last + ", " + last + "]\n";
  }
  EXPECT_EQ(answer(bomb), "s:1: anchors (&a0) are not read here");
}

}  // namespace
}  // namespace cloche
