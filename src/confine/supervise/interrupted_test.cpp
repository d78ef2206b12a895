#include "confine/supervise/outcome_of_call.hpp"

#include <gtest/gtest.h>
#include <signal.h>

namespace cloche {
namespace {

TEST(CutShort, IsWhateverSomebodyElseEnded) {
  const struct {
    Outcome outcome;
    bool cut_short;
  } rows[] = {
      {{.end = End::exited, .exit_code = 0}, false},
      {{.end = End::exited, .exit_code = 1}, false},
      {{.end = End::exited, .exit_code = 137}, false},  // its own word
      {{.end = End::limit, .exit_code = 137}, false},
      {{.end = End::timeout, .exit_code = 124}, false},
      {{.end = End::not_found, .exit_code = 127}, false},
      {{.end = End::signaled, .signal = SIGSYS}, false},  // by a filter of this host's
      {{.end = End::signaled, .signal = SIGSEGV}, false},
      {{.end = End::signaled, .signal = SIGKILL}, true},
      {{.end = End::signaled, .signal = SIGTERM}, true},
      {{.end = End::failed}, true},
  };
  for (const auto& row : rows)
    EXPECT_EQ(was_interrupted(row.outcome), row.cut_short)
        << name_of(row.outcome.end) << " " << row.outcome.signal;
}

// Else it would say "Success", and that this file system cannot be used.
TEST(CutShort, IsAStepThatFailedForNoReason) {
  using wire::Step;
  EXPECT_TRUE(was_interrupted(wire::Report{.step = Step::map_owner, .number = 0}));
  EXPECT_FALSE(was_interrupted(wire::Report{.step = Step::map_owner, .number = EINVAL}));
  EXPECT_FALSE(was_interrupted(wire::Report{.step = Step::start_box, .number = 0}));
}

TEST(CutShort, IsACauseOfItsOwn) {
  EXPECT_EQ(interrupted_error("it was ended").cause, Cause::interrupted);
  EXPECT_EQ(describe(interrupted_error("it was ended")), "it was ended; run it again");
}

}  // namespace
}  // namespace cloche
