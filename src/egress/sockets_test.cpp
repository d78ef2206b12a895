#include "egress/sockets.hpp"

#include <gtest/gtest.h>

namespace cloche::egress {
namespace {

TEST(BufferShare, IsTheKernelsForAFewAndLittleForMany) {
  const struct {
    size_t open;
    uint32_t share;
  } rows[] = {{1, 0}, {16, 0}, {17, 986'895}, {64, 256 << 10}, {512, 32 << 10}, {16'384, 32 << 10}};
  for (const auto& row : rows) EXPECT_EQ(buffer_share(row.open), row.share) << row.open;
}

}  // namespace
}  // namespace cloche::egress
