// Calls that were judged and are given out once.
#include "store/kept_calls.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/random_word.hpp"
#include "base/scratch.hpp"

namespace cloche {
namespace {

constexpr uint64_t now_ms = 1'800'000'000'000;
constexpr uint64_t hour_ms = 3'600'000;

class KeptCallsTest : public testing::Test {
 protected:
  KeptCalls open(const KeptCallTerms& terms = {}) const {
    return KeptCalls::open(scratch.path + "/state", terms).value();
  }

  Scratch scratch;
  KeptCall call{.tool = "run_script",
                .arguments = "{\"code\":\"echo '\\\"' \\n \xc3\xbc\"}",
                .workspace = "/ws",
                .directory = "/ws/src",
                .task = "s-1",
                .profile = "readonly",
                .approved = "sha256:one"};
};

TEST_F(KeptCallsTest, EachIsGivenOutOnceAndWhole) {
  const std::string id = open().keep(call, now_ms).value();
  EXPECT_EQ(id.size(), 26U);
  EXPECT_TRUE(is_plain_id(id));
  const auto taken = open().take(id, now_ms);
  ASSERT_TRUE(taken.ok()) << taken.error().what;
  EXPECT_EQ(taken.value(), call);
  EXPECT_FALSE(open().take(id, now_ms).ok());
}

TEST_F(KeptCallsTest, AnIdThatIsNoneIsRefused) {
  const std::string id = open().keep(call, now_ms).value();
  for (const std::string& guess : {std::string(), std::string(26, 'a'), id.substr(1), id + "a",
                                   "../calls/" + id, std::string(".key"), std::string(100'000, 'a')})
    EXPECT_FALSE(open().take(guess, now_ms).ok()) << guess.substr(0, 40);
  EXPECT_TRUE(open().take(id, now_ms).ok()) << "the control";
}

TEST_F(KeptCallsTest, TimeEndsIt) {
  const std::string id = open().keep(call, now_ms).value();
  EXPECT_FALSE(open().take(id, now_ms + hour_ms).ok());
  EXPECT_FALSE(open().take(id, now_ms).ok()) << "and it is gone";
}

TEST_F(KeptCallsTest, NoMoreThanThereIsRoomFor) {
  const KeptCallTerms few{.most = 4};
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(open(few).keep(call, now_ms).ok());
  EXPECT_FALSE(open(few).keep(call, now_ms).ok());
  EXPECT_TRUE(open(few).keep(call, now_ms + hour_ms).ok()) << "the others have expired";
}

TEST_F(KeptCallsTest, AMebibyteOfTheWorstBytesComesBack) {
  call.arguments = "{\"code\":\"" + std::string(1 << 20, '\x01') + "\"}";
  const std::string id = open().keep(call, now_ms).value();
  const auto taken = open().take(id, now_ms);
  ASSERT_TRUE(taken.ok()) << taken.error().what;
  EXPECT_EQ(taken.value().arguments, call.arguments);
}

TEST_F(KeptCallsTest, OfManyAtOnceOneHasIt) {
  const std::string id = open().keep(call, now_ms).value();
  std::atomic<int> got = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { got += open().take(id, now_ms).ok() ? 1 : 0; });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(got, 1);
}

}  // namespace
}  // namespace cloche
