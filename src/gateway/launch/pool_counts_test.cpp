// What a pool says of itself, to another process too, and that nothing is said of one that has ended.
#include "gateway/launch/pool_counts.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/scratch.hpp"

namespace cloche {
namespace {

TEST(PoolCounts, AreOneSentence) {
  EXPECT_EQ(describe(PoolCounts{.bound = 4, .waiting = 2, .memory_bytes = 3 << 20, .hits = 17, .misses = 1}),
            "2 of 4 sandboxes wait, with 3072 KiB of memory; 17 calls began in one, 1 found none");
  EXPECT_EQ(describe(PoolCounts{.bound = 2, .waiting = 2, .hits = 1}),
            "2 of 2 sandboxes wait, with 0 KiB of memory; 1 call began in one, 0 found none");
}

TEST(PoolCounts, AreSaidOfAPoolThatIsThere) {
  const Scratch scratch;
  const std::string state = scratch.path;
  EXPECT_TRUE(describe_pools(state).empty());
  {
    const PoolNotice notice(state);
    notice.write({.bound = 2, .waiting = 12345, .hits = 5});
    notice.write({.bound = 2, .waiting = 1});
    const auto said = describe_pools(state);
    ASSERT_EQ(said.size(), 1U);
    EXPECT_EQ(said[0], "process " + std::to_string(::getpid()) + ": " +
                           describe(PoolCounts{.bound = 2, .waiting = 1}));
  }
  EXPECT_TRUE(describe_pools(state).empty());
}

TEST(PoolCounts, OfAPoolThatWasKilledNothingIsSaidOrLeft) {
  const Scratch scratch;
  const std::string state = scratch.path;
  std::filesystem::create_directory(state + "/pools");
  std::ofstream(state + "/pools/17-0") << "1 of 1 sandboxes wait\n";
  EXPECT_TRUE(describe_pools(state).empty());
  EXPECT_TRUE(std::filesystem::is_empty(state + "/pools"));
}

}  // namespace
}  // namespace cloche
