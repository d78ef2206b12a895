#include "jail/core/text.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

TEST(Text, JoinsWordsAndNumbers) {
  jail::Text<64> text;
  EXPECT_STREQ(text.c_str(), "");
  EXPECT_EQ(text.size(), 0U);
  text.add("/proc/").add(uint64_t{4711}).add("/uid_map");
  EXPECT_STREQ(text.c_str(), "/proc/4711/uid_map");
  EXPECT_EQ(text.size(), 18U);
  EXPECT_STREQ(text.clear().add(uint64_t{0}).c_str(), "0");
  EXPECT_STREQ(text.clear().add(~uint64_t{0}).c_str(), "18446744073709551615");
  EXPECT_STREQ(text.clear().add_octal(01777).c_str(), "1777");
  EXPECT_STREQ(text.clear().add_octal(0).c_str(), "0");
  EXPECT_STREQ(text.clear().add_octal(~uint64_t{0}).c_str(), "1777777777777777777777");
}

TEST(Text, HoldsOneLessThanItsRoomForTheEnd) {
  jail::Text<5> text;
  EXPECT_STREQ(text.add("1234").c_str(), "1234");
  EXPECT_EQ(text.size(), 4U);
}

TEST(TextDeathTest, EndsTheProgramRatherThanOverflow) {
  EXPECT_DEATH(jail::Text<5>().add("12345"), "");
  EXPECT_DEATH(jail::Text<5>().add(uint64_t{12345}), "");
}

}  // namespace
}  // namespace cloche
