// The kernel's count of a user's processes is found by trying, and soon.
#include "jail/boxes/process_count.hpp"

#include <gtest/gtest.h>

namespace cloche::jail {
namespace {

TEST(CountedBeyond, FindsWhatCannotBeSeen) {
  struct Row {
    uint64_t seen;
    uint64_t counted;
    uint64_t beyond;
    unsigned most_tries;
  };
  const Row rows[] = {
      {3, 3, 0, 1},        {3, 2, 0, 1}, {3, 4, 1, 2},          {3, 33, 30, 12},
      {1, 1025, 1024, 24}, {0, 5, 5, 8}, {5, 70000, 69995, 40}, {1, uint64_t{1} << 40, 0, 30},
  };
  for (const auto& row : rows) {
    unsigned tries = 0;
    const auto can_start = [&](uint64_t limit) {
      ++tries;
      return row.counted + 1 <= limit;
    };
    EXPECT_EQ(counted_beyond(row.seen, can_start), row.beyond) << row.counted;
    EXPECT_LE(tries, row.most_tries) << row.counted;
  }
}

}  // namespace
}  // namespace cloche::jail
