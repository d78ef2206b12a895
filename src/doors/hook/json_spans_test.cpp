// Parts of a JSON text, found and cut out.
#include "doors/hook/json_spans.hpp"

#include <gtest/gtest.h>

#include "base/json/json_text.hpp"

namespace cloche {
namespace {

TEST(JsonSpans, WhatABracketHolds) {
  const std::string text = R"( {"a": 1.5e3, "b" : "x\"]}" ,"c":[ [1,2], {"d":null} ]})";
  const size_t root = begin_of_json(text);
  std::vector<std::string> parts;
  for (const auto& span : spans_in(text, root))
    parts.push_back(text.substr(span.begin, span.end - span.begin));
  EXPECT_EQ(parts,
            (std::vector<std::string>{R"("a": 1.5e3)", R"("b" : "x\"]}")", R"("c":[ [1,2], {"d":null} ])"}));
  const auto list = member_span(text, root, "c");
  ASSERT_TRUE(list);
  parts.clear();
  for (const auto& span : spans_in(text, list->value))
    parts.push_back(text.substr(span.value, span.end - span.value));
  EXPECT_EQ(parts, (std::vector<std::string>{"[1,2]", R"({"d":null})"}));
  EXPECT_FALSE(member_span(text, root, "d"));
  EXPECT_TRUE(spans_in("[ ]", 0).empty());
}

TEST(JsonSpans, CutWithItsComma) {
  struct Row {
    const char* text;
    size_t which;
    const char* rest;
  };
  const Row rows[] = {
      {"[ 1 ]", 0, "[]"},
      {"[1, 2]", 0, "[2]"},
      {"[1, 2]", 1, "[1]"},
      {"[1, 2 , 3]", 1, "[1, 3]"},
      {"{\n  \"a\": 1,\n  \"b\": 2\n}", 1, "{\n  \"a\": 1\n}"},
      {"{\n  \"a\": 1,\n  \"b\": 2\n}", 0, "{\n  \"b\": 2\n}"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(cut_span(row.text, 0, row.which), row.rest) << row.text;
    EXPECT_TRUE(read_json(row.rest, "").ok());
  }
}

}  // namespace
}  // namespace cloche
