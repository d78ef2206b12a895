#include "base/text/near_word.hpp"

#include <gtest/gtest.h>

#include <array>

namespace cloche {
namespace {

TEST(NearWord, CountsWhatWasPutInTakenOutReplacedOrExchanged) {
  const struct {
    const char* a;
    const char* b;
    size_t distance;
  } rows[] = {{"run", "run", 0}, {"rnu", "run", 1},   {"runn", "run", 1}, {"ru", "run", 1},
              {"ron", "run", 1}, {"", "run", 3},      {"run", "", 3},     {"doctro", "doctor", 1},
              {"lgo", "log", 1}, {"abcd", "badc", 2}, {"x", "run", 3}};
  for (const auto& row : rows) {
    EXPECT_EQ(edit_distance(row.a, row.b), row.distance) << row.a << " " << row.b;
    EXPECT_EQ(edit_distance(row.b, row.a), row.distance) << row.b << " " << row.a;
  }
}

TEST(NearWord, IsTheNearestOrNone) {
  constexpr std::array<std::string_view, 5> known = {"run", "call", "log", "doctor", "changes"};
  EXPECT_EQ(near_word("rnu", known), "run");
  EXPECT_EQ(near_word("docter", known), "doctor");
  EXPECT_EQ(near_word("change", known), "changes");
  EXPECT_EQ(near_word("dotcer", known), "");
  EXPECT_EQ(near_word("hcanegs", known), "changes");
  EXPECT_EQ(near_word("x", known), "");
  EXPECT_EQ(near_word("", known), "");
  EXPECT_EQ(near_word(std::string(100'000, 'r'), known), "");
  EXPECT_EQ(did_you_mean("chagnes", known), "; did you mean changes?");
  EXPECT_EQ(did_you_mean("frobnicate", known), "");
}

}  // namespace
}  // namespace cloche
