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

class ListedRuns : public RecordTest {
 protected:
  // A run of one call with `counts` paths, of which `withheld` were withheld.
  void write_run(const std::string& name, ChangesEnd end, const ChangeCounts& counts, size_t withheld) const {
    const auto run = open(place_named_run(name, state()).value());
    const DecisionRecord decided = a_decision("T");
    CallRecord call = a_call(decided, run->begin(decided).value(), "x");
    call.outcome.changes = ChangesOutcome{.end = end, .counts = counts};
    call.outcome.changes->paths.resize(withheld, {.path = "p", .reason = "r"});
    ASSERT_TRUE(run->finish(call, "x").ok());
  }
  // "changed withheld staged" of each run, by its name.
  std::map<std::string, std::string> listed(uint64_t most_bytes = most_counted_bytes) const {
    std::map<std::string, std::string> found;
    for (const auto& run : list_runs(state(), most_bytes))
      found[run.run_id] = run.counts ? std::to_string(run.counts->changed) + " " +
                                           std::to_string(run.counts->withheld) + " " +
                                           std::to_string(run.counts->staged)
                                     : "-";
    return found;
  }
};

TEST_F(ListedRuns, HaveTheirChangesCounted) {
  write_run("a", ChangesEnd::committed, {.created = 2, .changed = 1, .deleted = 1}, 1);
  write_run("b", ChangesEnd::staged, {.created = 2, .changed = 1}, 1);
  write_run("c", ChangesEnd::committed, {.created = 1000}, 300);  // more than a line lists
  write_run("d", ChangesEnd::none, {}, 0);
  EXPECT_EQ(listed(), (std::map<std::string, std::string>{
                          {"a", "3 1 0"}, {"b", "0 0 3"}, {"c", "700 300 0"}, {"d", "0 0 0"}}));
}

TEST_F(ListedRuns, AreCountedOnlySoFar) {
  for (const char* name : {"a", "b", "c"}) write_run(name, ChangesEnd::none, {}, 0);
  EXPECT_EQ(listed(0), (std::map<std::string, std::string>{{"a", "-"}, {"b", "-"}, {"c", "-"}}));
  const auto runs = list_runs(state(), 8192);
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_FALSE(runs[0].counts) << "the oldest";
  EXPECT_TRUE(runs[1].counts && runs[2].counts);
}

TEST_F(ListedRuns, HaveTheirRefusalsCounted) {
  const auto run = open(place_named_run("a", state()).value());
  write_call(*run, "T", "x");
  for (const char* task : {"T", "U"}) {
    const DecisionRecord decided = a_decision(task);
    CallRecord call = a_call(decided, run->begin(decided).value(), "no");
    call.outcome.end = End::refused;
    ASSERT_TRUE(run->finish(call, "no").ok());
  }
  EXPECT_EQ(list_runs(state()).at(0).counts->refused, 2U);
}

}  // namespace
}  // namespace cloche
