#include "store/layers/change_clock.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "base/scratch.hpp"
#include "base/sys/directory.hpp"
#include "store/layers/layer_entry.hpp"
#include "store/layers/layers_fixture.hpp"

namespace cloche {
namespace {

int64_t change_time(const std::string& path) {
  struct stat seen {};
  EXPECT_EQ(::lstat(path.c_str(), &seen), 0);
  return nanoseconds(seen.st_ctim);
}

TEST(ChangeClock, TellsBeforeFromAfterWithoutAPause) {
  const Scratch scratch;
  const std::string before = scratch.path + "/before";
  const std::string after = scratch.path + "/after";
  const auto directory = sys::open(scratch.path, O_RDONLY | O_DIRECTORY).value();
  for (int i = 0; i < 50; ++i) {
    write_text(before, "1");
    const auto start = mark_start(directory.get());
    ASSERT_TRUE(start.ok());
    write_text(after, "1");
    ASSERT_FALSE(is_since(start.value(), change_time(before))) << i;
    ASSERT_TRUE(is_since(start.value(), change_time(after))) << i;
  }
  EXPECT_EQ(names_in(scratch.path), std::vector<std::string>({"after", "before"}));
}

TEST(ChangeClock, WhatIsAsOldAsTheStart) {
  const CallStart fine{1000, ClockGrain::fine, 0};
  const CallStart coarse{1000, ClockGrain::coarse, 0};
  EXPECT_FALSE(is_since(fine, 999));
  EXPECT_TRUE(is_since(fine, 1000));
  EXPECT_FALSE(is_since(coarse, 1000));
  EXPECT_TRUE(is_since(coarse, 1001));
}

TEST(ChangeClock, ClockThatWasSet) {
  CallStart start;
  start.clock_offset_ns = clock_offset_ns();
  EXPECT_FALSE(clock_was_set(start, clock_offset_ns()));
  EXPECT_TRUE(clock_was_set(start, start.clock_offset_ns + 5'000'000));
  EXPECT_TRUE(clock_was_set(start, start.clock_offset_ns - 5'000'000));
}

TEST(ChangeClock, TimesBeyondSixtyFourBits) {
  EXPECT_EQ(nanoseconds({INT64_MAX, 0}), INT64_MAX);
  EXPECT_EQ(nanoseconds({INT64_MIN, 0}), INT64_MIN);
  EXPECT_EQ(nanoseconds({-1, 5}), -999'999'995);
}

}  // namespace
}  // namespace cloche
