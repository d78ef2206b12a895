#include "doors/mcp/request_state.hpp"

#include <gtest/gtest.h>

namespace cloche::mcp {
namespace {

const StateSubject subject{"sha256:q", "c"};
constexpr uint64_t now = 1000;

TEST(RequestState, IsGoodOnceForItsCallAndItsTime) {
  RequestStates states("key");
  const std::string state = states.make(subject, now);
  EXPECT_FALSE(states.take(state, "another", now).ok());
  EXPECT_FALSE(states.take(state, "c", now + state_lives_ms).ok());
  const auto taken = states.take(state, "c", now + state_lives_ms - 1);
  ASSERT_TRUE(taken.ok());
  EXPECT_EQ(taken.value(), "sha256:q");
  EXPECT_FALSE(states.take(state, "c", now).ok()) << "it was used already";
  EXPECT_TRUE(states.take(states.make(subject, now), "c", now).ok()) << "another of the same is another";
}

TEST(RequestState, NoByteOfItCanBeChanged) {
  RequestStates states("key");
  const std::string state = states.make(subject, now);
  for (size_t i = 0; i < state.size(); ++i) {
    std::string altered = state;
    altered[i] = altered[i] == '1' ? '2' : '1';
    EXPECT_FALSE(states.take(altered, "c", now).ok()) << altered;
    EXPECT_FALSE(states.take(state.substr(0, i), "c", now).ok());
  }
  EXPECT_FALSE(states.take(state + "0", "c", now).ok());
  EXPECT_FALSE(states.take("", "c", now).ok());
  EXPECT_FALSE(states.take("....", "c", now).ok());
  EXPECT_FALSE(states.take(std::string(100'000, '.'), "c", now).ok());
  EXPECT_FALSE(RequestStates("other").take(state, "c", now).ok());
  EXPECT_TRUE(states.take(state, "c", now).ok()) << "what was refused has used nothing up";
}

}  // namespace
}  // namespace cloche::mcp
