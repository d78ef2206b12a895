#include "egress/proxy/sockets.hpp"

#include <gtest/gtest.h>

namespace cloche::egress {
namespace {

TEST(Buffers, AreLargeForOneAndLittleForMany) {
  const struct {
    size_t open;
    Buffers buffers;
  } rows[] = {
      {1, {4 << 20, 0}},
      {2, {2 << 20, 0}},
      {16, {256 << 10, 0}},
      {17, {256 << 10, 986'895}},
      {64, {256 << 10, 256 << 10}},
      {512, {32 << 10, 32 << 10}},
      {16'384, {32 << 10, 32 << 10}},
      {0, {4 << 20, 0}},
  };
  for (const auto& row : rows) EXPECT_EQ(buffers_for(row.open), row.buffers) << row.open;
}

}  // namespace
}  // namespace cloche::egress
