// What is shown of a record to people.
#include "store/record/run_log.hpp"

#include <unistd.h>

#include "store/record/record_fixture.hpp"

namespace cloche {
namespace {

class Follower : public RecordTest {
 protected:
  static std::string ids(const std::vector<EndedCall>& calls) {
    std::string text;
    for (const auto& ended : calls) text += (text.empty() ? "" : " ") + ended.call.call_id;
    return text;
  }
};

// Tasks are files, and files have an order of their own.
TEST_F(Follower, ShowsTheLatestOfAllTasksInTheOrderOfTime) {
  const RunPlace where = place();
  const auto run = open(where);
  for (int i = 0; i < 12; ++i) write_call(*run, i % 3 == 0 ? "Z" : i % 3 == 1 ? "A" : "M", "x");
  TranscriptFollower follower(where, "");
  const auto latest = follower.read_latest(10);
  ASSERT_TRUE(latest.ok());
  EXPECT_EQ(ids(latest.value()), "c-0003 c-0004 c-0005 c-0006 c-0007 c-0008 c-0009 c-0010 c-0011 c-0012");
  EXPECT_EQ(latest.value().back().line, lines_in(transcript("M")).back());
  EXPECT_EQ(ids(follower.read_latest(10).value()), "") << "each only once";
  write_call(*run, "Z", "x");
  write_call(*run, "A", "x");
  EXPECT_EQ(ids(follower.read_latest(~size_t{0}).value()), "c-0013 c-0014");
  EXPECT_EQ(ids(TranscriptFollower(where, "A").read_latest(2).value()), "c-0011 c-0014");
}

// By when they ended, which is not the order in which they began.
TEST_F(Follower, GoesByTheEndOfCalls) {
  const RunPlace where = place();
  const auto run = open(where);
  const DecisionRecord decided = a_decision("A");
  const std::string slow = run->begin(decided).value();
  write_call(*run, "B", "x");
  ::usleep(3000);  // times have milliseconds
  ASSERT_TRUE(run->finish(a_call(decided, slow, "x"), "x").ok());
  EXPECT_EQ(ids(TranscriptFollower(where, "").read_latest(10).value()), "c-0002 c-0001");
}

}  // namespace
}  // namespace cloche
