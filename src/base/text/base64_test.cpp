#include "base/text/base64.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

// The test vectors of RFC 4648, and bytes that are no text.
TEST(Base64, Encodes) {
  const std::pair<std::string, std::string> rows[] = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="},
      {"foobar", "Zm9vYmFy"},
      {std::string("\x00\xff\xfe", 3), "AP/+"},
  };
  for (const auto& [bytes, text] : rows) EXPECT_EQ(base64(bytes), text);
}

}  // namespace
}  // namespace cloche
