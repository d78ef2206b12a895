// Calls that were judged and are given out once.
#include "store/sealed/pending_commands.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "base/scratch.hpp"
#include "base/text/random_word.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t now_ms = 1'800'000'000'000;
constexpr uint64_t hour_ms = 3'600'000;

class KeptCallsTest : public testing::Test {
 protected:
  PendingCommands open(const PendingTerms& terms = {}) const {
    return PendingCommands::open(scratch.path + "/state", terms).value();
  }

  Scratch scratch;
  PendingCommand call{.tool = "run_script",
                      .arguments = "{\"code\":\"echo '\\\"' \\n \xc3\xbc\"}",
                      .asked = "Bash",
                      .input = "{\"command\":\"echo\"}",
                      .workspace = "/ws",
                      .directory = "/ws/src",
                      .task = "s-1",
                      .profile = "readonly",
                      .isolation = "required",
                      .level = "gvisor",
                      .approved = "sha256:one"};
};

TEST_F(KeptCallsTest, EachIsGivenOutOnceAndWhole) {
  const std::string id = open().add(call, now_ms).value();
  EXPECT_EQ(id.size(), 26U);
  EXPECT_TRUE(is_plain_id(id));
  const auto taken = open().take(id, now_ms);
  ASSERT_TRUE(taken.ok()) << taken.error().what;
  EXPECT_EQ(taken.value(), call);
  EXPECT_FALSE(open().take(id, now_ms).ok());
}

TEST_F(KeptCallsTest, ACopyThatIsPutBackIsNotGivenOutAgain) {
  const std::string id = open().add(call, now_ms).value();
  const fs::path file = fs::path(scratch.path) / "state/calls" / id;
  const fs::path copy = fs::path(scratch.path) / "copy";
  fs::copy_file(file, copy);
  ASSERT_TRUE(open().take(id, now_ms).ok());
  fs::copy_file(copy, file);
  EXPECT_FALSE(open().take(id, now_ms).ok());
  EXPECT_FALSE(open().take(id, now_ms + hour_ms - 1).ok());
  EXPECT_FALSE(open().take(id, now_ms + hour_ms).ok()) << "and then it has expired";
}

TEST_F(KeptCallsTest, MarksGoWhenTheirCallsWouldHaveExpired) {
  const auto files = [&] {
    const fs::directory_iterator all(fs::path(scratch.path) / "state/calls");
    return std::count_if(begin(all), end(all),
                         [](const auto& one) { return one.path().extension() == ".spent"; });
  };
  const auto use = [&](uint64_t when) {
    ASSERT_TRUE(open().take(open().add(call, when).value(), when).ok());
  };
  for (int i = 0; i < 255; ++i) use(now_ms);
  EXPECT_EQ(files(), 255);
  use(now_ms + hour_ms - 1);
  EXPECT_EQ(files(), 256) << "none is old yet";
  for (int i = 0; i < 256; ++i) use(now_ms + hour_ms);
  EXPECT_LT(files(), 260);
}

TEST_F(KeptCallsTest, WhatWasStartedTakesNoRoom) {
  const PendingTerms few{.most = 4};
  for (int i = 0; i < 20; ++i) {
    const auto id = open(few).add(call, now_ms);
    ASSERT_TRUE(id.ok()) << id.error().what;
    ASSERT_TRUE(open(few).take(id.value(), now_ms).ok());
  }
}

TEST_F(KeptCallsTest, AnIdThatIsNoneIsRefused) {
  const std::string id = open().add(call, now_ms).value();
  for (const std::string& guess : {std::string(), std::string(26, 'a'), id.substr(1), id + "a",
                                   "../calls/" + id, std::string(".key"), std::string(100'000, 'a')})
    EXPECT_FALSE(open().take(guess, now_ms).ok()) << guess.substr(0, 40);
  EXPECT_TRUE(open().take(id, now_ms).ok()) << "the control";
}

TEST_F(KeptCallsTest, TimeEndsIt) {
  const std::string id = open().add(call, now_ms).value();
  EXPECT_FALSE(open().take(id, now_ms + hour_ms).ok());
  EXPECT_FALSE(open().take(id, now_ms).ok()) << "and it is gone";
}

TEST_F(KeptCallsTest, NoMoreThanThereIsRoomFor) {
  const PendingTerms few{.most = 4};
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(open(few).add(call, now_ms).ok());
  EXPECT_FALSE(open(few).add(call, now_ms).ok());
  EXPECT_TRUE(open(few).add(call, now_ms + hour_ms).ok()) << "the others have expired";
}

TEST_F(KeptCallsTest, AMebibyteOfTheWorstBytesComesBack) {
  call.arguments = "{\"code\":\"" + std::string(1 << 20, '\x01') + "\"}";
  const std::string id = open().add(call, now_ms).value();
  const auto taken = open().take(id, now_ms);
  ASSERT_TRUE(taken.ok()) << taken.error().what;
  EXPECT_EQ(taken.value().arguments, call.arguments);
}

TEST_F(KeptCallsTest, OfManyAtOnceOneHasIt) {
  const std::string id = open().add(call, now_ms).value();
  std::atomic<int> got = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { got += open().take(id, now_ms).ok() ? 1 : 0; });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(got, 1);
}

}  // namespace
}  // namespace cloche
