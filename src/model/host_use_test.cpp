#include "model/host_use.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

std::string shown(const std::vector<HostUse>& uses) {
  std::string text;
  for (const auto& use : uses) {
    text += use.more_hosts > 0 ? "+" + std::to_string(use.more_hosts) : use.name;
    text += " " + std::to_string(use.connections) + " " + std::to_string(use.bytes_out) + " " +
            std::to_string(use.bytes_in) + "; ";
  }
  return text;
}

TEST(Busiest, HostsAreKeptAndTheRestIsOneSum) {
  const std::vector<HostUse> all = {
      {"a", 443, 1, 5, 900}, {"b", 443, 1, 5, 7}, {"c", 80, 2, 1, 1}, {"exfil", 443, 1, 99, 0}};
  const struct {
    size_t most;
    const char* answer;
  } rows[] = {
      {9, "a 1 5 900; b 1 5 7; c 2 1 1; exfil 1 99 0; "},
      {4, "a 1 5 900; b 1 5 7; c 2 1 1; exfil 1 99 0; "},
      {3, "exfil 1 99 0; a 1 5 900; b 1 5 7; +1 2 1 1; "},
      {1, "exfil 1 99 0; +3 4 11 908; "},
      {0, "+4 5 110 908; "},
  };
  for (const auto& row : rows) EXPECT_EQ(shown(busiest(all, row.most)), row.answer) << row.most;
}

// The outcome's list is shortened again for the transcript.
TEST(Busiest, TwiceCountsEveryHostOnce) {
  std::vector<HostUse> all;
  for (uint64_t i = 0; i < 100; ++i) all.push_back({"h" + std::to_string(i), 443, 1, i, 2 * i});
  const auto twice = busiest(busiest(all, 10), 5);
  EXPECT_EQ(shown(twice), shown(busiest(all, 5)));
  EXPECT_EQ(twice.back().more_hosts, 95U);
  EXPECT_EQ(shown(busiest(busiest(all, 10), 10)), shown(busiest(all, 10)));
}

}  // namespace
}  // namespace cloche
