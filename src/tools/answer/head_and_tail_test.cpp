// A text in pieces is shown as the whole would be, to the byte.
#include "tools/answer/head_and_tail.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(HeadAndTail, ThePiecesMakeNoDifference) {
  const std::string texts[] = {
      "",
      "short",
      repeated("plain text\n", 40),
      repeated("\x01", 300),
      repeated("dos\r\nlines\r\n", 30) + "\r",
      repeated("\xe2\x82\xac\xf0\x9f\x98\x80\xc3\xa4", 40),
      repeated("\xe2\x82\xac", 30) + "\xe2\x82",
      repeated("\xff\xf0\x9f\xe2\x80\xae", 50),
  };
  for (const auto& text : texts) {
    for (size_t piece = 1; piece < 12; ++piece) {
      for (const size_t bytes : {size_t{0}, size_t{1}, size_t{7}, size_t{64}, size_t{4000}}) {
        const OutputBudget budget{.bytes = bytes, .call_id = "c-0001"};
        HeadAndTail ends(bytes);
        for (size_t at = 0; at < text.size(); at += piece) ends.add(std::string_view(text).substr(at, piece));
        ends.finish();
        EXPECT_EQ(ends.size(), neutralised(text).size());
        EXPECT_EQ(ends.within(budget), within_budget(neutralised(text), budget)) << text << piece << bytes;
      }
    }
  }
}

}  // namespace
}  // namespace cloche
