// The tests' own JSON reader: it must be stricter than what it judges.
#include <gtest/gtest.h>

#include "run/json.hpp"

namespace cloche::test {
namespace {

TEST(JsonReader, ReadsWhatIsJson) {
  const auto json =
      parse_json(" {\"a\": [1, -2.5e1, true, null], \"b\": {\"c\": \"\\u2602 \\ud83d\\ude00 \\n\\\"\"}} \n");
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["a"].array.size(), 4U);
  EXPECT_EQ((*json)["a"].array[1].number, -25);
  EXPECT_TRUE((*json)["a"].array[2].boolean);
  EXPECT_EQ((*json)["b"]["c"].string, "\xE2\x98\x82 \xF0\x9F\x98\x80 \n\"");
  EXPECT_TRUE((*json)["missing"]["too"].is(Json::Kind::null));
}

TEST(JsonReader, RefusesWhatIsNot) {
  for (const char* text : {"",
                           "{",
                           "{}x",
                           "{} {}",
                           "{\"a\":1,}",
                           "[1 2]",
                           "{\"a\":1,\"a\":2}",
                           "\"\xff\"",
                           "\"\xc3\x28\"",
                           "\"\xed\xa0\x80\"",
                           "\"\xc0\x80\"",
                           "\"\n\"",
                           "\"\\x\"",
                           "\"\\ud800\"",
                           "nan",
                           "+1",
                           "\"open",
                           "{'a':1}",
                           "[1,]",
                           "tru"}) {
    EXPECT_FALSE(parse_json(text)) << text;
  }
  EXPECT_FALSE(parse_json(std::string(100, '[') + std::string(100, ']')));
}

}  // namespace
}  // namespace cloche::test
