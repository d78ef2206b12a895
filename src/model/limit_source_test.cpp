#include "model/limit_source.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

TEST(LimitSource, IsWhoLoweredItLast) {
  std::vector<LimitSource> sources;
  Limits limits;
  const auto lower = [&](uint64_t bytes, uint64_t connections, std::string_view by) {
    const Limits before = limits;
    limits.net_bytes = bytes;
    limits.net_connections = connections;
    note_lowered(sources, before, limits, by);
  };
  EXPECT_EQ(source_of(sources, LimitId::net_bytes), "");
  lower(limits.net_bytes, limits.net_connections, "nobody");
  EXPECT_TRUE(sources.empty());
  lower(1000, 8, "profile p");
  lower(500, 8, "skill s");
  EXPECT_EQ(source_of(sources, LimitId::net_bytes), "skill s");
  EXPECT_EQ(source_of(sources, LimitId::net_connections), "profile p");
  EXPECT_EQ(source_of(sources, LimitId::net_idle), "");
  EXPECT_EQ(sources.size(), 2U);
}

}  // namespace
}  // namespace cloche
