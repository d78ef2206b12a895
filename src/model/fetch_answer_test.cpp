#include "model/fetch_answer.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

TEST(FetchAnswer, IsReadBackAsItWasWritten) {
  const FetchAnswer rows[] = {
      {.problem = "no server answers there"},
      {.status = 200, .type = "text/html", .body = "<p>\n"},
      {.status = 302, .location = "https://a.org/x y"},
      {.status = 404},
      {.status = 200, .truncated = true, .body = std::string(most_fetched_bytes, 'x')},
      {.status = 200, .body = std::string("\0\n\xff problem x\n", 14)},
  };
  for (const auto& row : rows) EXPECT_EQ(read_frame(to_frame(row)), row) << row.status;
}

TEST(FetchAnswer, WhatAServerSaysBeginsNoLineOfItsOwn) {
  const auto read =
      read_frame(to_frame({.status = 200, .location = "a\nbody 3\nabc", .type = "\x1b[2J\xff"}));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->type, "?[2J?");
  EXPECT_EQ(read_frame(to_frame({.status = 200, .type = std::string(100'000, 'x')}))->type.size(), 8192U);
}

TEST(FetchAnswer, AnAddressIsSaidAsItIsOrNotAtAll) {
  for (const std::string& odd : {std::string("http://a.org/a\nbody 3\nabc"), std::string("http://a.org/\x01"),
                                 std::string("http://a.org/\xff"), "http://a.org/" + std::string(8192, 'x')})
    EXPECT_EQ(read_frame(to_frame({.status = 302, .location = odd}))->location, unreadable_location) << odd;
}

TEST(FetchAnswer, WhatIsNotExactlyAFrameIsNoAnswer) {
  const std::string good = "cloche-fetch 1\nstatus 200\nlocation \ntype \ntruncated no\nbody 2\nab";
  ASSERT_TRUE(read_frame(good));
  const struct {
    const char* from;
    const char* to;
  } rows[] = {
      {"cloche-fetch 1", "cloche-fetch 2"},
      {"cloche-fetch 1\n", "cloche-fetch 1"},
      {"status 200", "status 99"},
      {"status 200", "status 1000"},
      {"status 200", "status -20"},
      {"status 200", "status 2e2"},
      {"status 200\n", ""},
      {"location ", "location"},
      {"location ", "location \x1b"},
      {"location ", "location \xff"},
      {"truncated no", "truncated 0"},
      {"body 2", "body 3"},
      {"body 2", "body 1"},
      {"body 2", "body 1048577"},
      {"body 2", "body 99999999999999"},
      {"body 2", "body "},
      {"type \n", "type \ntype \n"},
      {"status 200", "problem x\nstatus 200"},
      {"status 200", "problem "},
      {"cloche-fetch 1\n", ""},
  };
  for (const auto& row : rows) {
    std::string bad = good;
    bad.replace(bad.find(row.from), std::string(row.from).size(), row.to);
    EXPECT_FALSE(read_frame(bad)) << row.from << " -> " << row.to;
  }
  for (size_t length = 0; length < good.size(); ++length) EXPECT_FALSE(read_frame(good.substr(0, length)));
  EXPECT_FALSE(read_frame(good + "c"));
}

}  // namespace
}  // namespace cloche
