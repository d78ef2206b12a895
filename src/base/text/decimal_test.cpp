// Numbers as they are written: one value for one number, exact beyond every machine word.
#include "base/text/decimal.hpp"

#include <gtest/gtest.h>

#include <random>

namespace cloche {
namespace {

TEST(Decimal, HasOneTextForOneNumber) {
  struct Row {
    const char* written;
    const char* text;
    bool whole;
  };
  const std::string many_nines(50, '9');
  const Row rows[] = {
      {"0", "0", true},
      {"-0.000e5", "0", true},
      {"1", "1", true},
      {"1.0", "1", true},
      {"-1200", "-1200", true},
      {"-1.2E+3", "-1200", true},
      {"0.5", "5e-1", false},
      {"0.050", "5e-2", false},
      {"1e-1", "1e-1", false},
      {"10e-1", "1", true},
      {"9007199254740993", "9007199254740993", true},
      {"9007199254740993.0", "9007199254740993", true},
      {"0.99999999999999999999", "99999999999999999999e-20", false},
      {"1e300", "1e300", true},
      {many_nines.c_str(), many_nines.c_str(), true},
      {"1e99999999999999999999", "1e1000000000", true},
  };
  for (const auto& row : rows) {
    const Decimal value = decimal_of(row.written);
    EXPECT_EQ(to_text(value), row.text) << row.written;
    EXPECT_EQ(value.is_whole(), row.whole) << row.written;
    EXPECT_EQ(decimal_of(to_text(value)), value) << row.written;
  }
}

// Each is below every one after it.
TEST(Decimal, AreInOrder) {
  const char* const ascending[] = {"-1e300",
                                   "-18446744073709551616",
                                   "-18446744073709551615",
                                   "-9",
                                   "-1.5",
                                   "-1",
                                   "-0.1",
                                   "0",
                                   "1e-300",
                                   "0.1",
                                   "0.99999999999999999999",
                                   "1",
                                   "1.00000000000000000001",
                                   "9",
                                   "10",
                                   "9007199254740992",
                                   "9007199254740992.5",
                                   "9007199254740993",
                                   "18446744073709551615",
                                   "18446744073709551616",
                                   "99999999999999999999999999999999999999999999",
                                   "1e300"};
  for (size_t i = 0; i < std::size(ascending); ++i) {
    for (size_t j = 0; j < std::size(ascending); ++j) {
      const int order = compare(decimal_of(ascending[i]), decimal_of(ascending[j]));
      EXPECT_EQ(order, i < j ? -1 : i > j ? 1 : 0) << ascending[i] << " and " << ascending[j];
    }
  }
}

TEST(Decimal, KnowsMultiples) {
  struct Row {
    const char* value;
    const char* divisor;
    bool multiple;
  };
  const Row rows[] = {
      {"0", "7", true},
      {"14", "7", true},
      {"-14", "7", true},
      {"15", "7", false},
      {"19.99", "0.01", true},
      {"0.35", "0.1", false},
      {"1e3", "1e-3", true},
      {"9223372036854775807", "2", false},
      {"9223372036854775808", "2", true},
      {"1000000000000000000", "7", false},
      {"1e300", "7", false},
      {"1e300", "1024", true},
      {"99999999999999999999999999999999999999999999", "9", true},
      {"9999999999999999999999999999999999998", "9999999999999999999999999999999999999", false},
      {"99999999999999999999999999999999999990", "9999999999999999999999999999999999999", true},
      {"5", "10", false},
      {"1", "0.123456789012345678901", false},
  };
  for (const auto& [value, divisor, multiple] : rows)
    EXPECT_EQ(is_multiple(decimal_of(value), decimal_of(divisor)), multiple) << value << " by " << divisor;
}

TEST(Decimal, AgreesWithIntegersWhereTheyFit) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 20'000; ++round) {
    const auto a = static_cast<int64_t>(random()) >> (random() % 60);
    const auto b = static_cast<int64_t>(random()) >> (random() % 60);
    const Decimal first = decimal_of(std::to_string(a));
    const Decimal second = decimal_of(std::to_string(b));
    ASSERT_EQ(compare(first, second), a < b ? -1 : a > b ? 1 : 0) << a << " and " << b;
    ASSERT_EQ(to_text(first), std::to_string(a));
    if (b > 0) {
      ASSERT_EQ(is_multiple(first, second), a % b == 0) << a << " by " << b;
    }
  }
}

}  // namespace
}  // namespace cloche
