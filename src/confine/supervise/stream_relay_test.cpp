// Flows over real pipes: nothing lost, nothing reordered, nothing waited for.
#include "confine/supervise/stream_relay.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "base/sys/sys.hpp"

namespace cloche {
namespace {

constexpr uint64_t unlimited = ~0ULL;

class FlowTest : public testing::Test {
 protected:
  void SetUp() override {
    before_ = ::signal(SIGPIPE, SIG_IGN);  // as main() does
    source_ = sys::make_pipe().value();
    sink_ = sys::make_pipe().value();
    ::fcntl(sink_.read.get(), F_SETFL, O_NONBLOCK);
  }
  void TearDown() override { ::signal(SIGPIPE, before_); }

  StreamRelay outward(std::optional<EscapeFilter> filter = std::nullopt) {
    return StreamRelay::out_of_command(std::move(source_.read), sink_.write.get(), std::move(filter), {});
  }
  StreamRelay kept(size_t most) {
    return StreamRelay::out_of_command(std::move(source_.read), -1, std::nullopt, {.most = most});
  }
  StreamRelay inward() { return StreamRelay::into_command(source_.read.get(), std::move(sink_.write)); }

  void say(std::string_view bytes) const { ASSERT_TRUE(sys::write_all(source_.write.get(), bytes).ok()); }
  std::string heard() const {
    std::string all;
    char room[65536];
    while (true) {
      const ssize_t got = ::read(sink_.read.get(), room, sizeof room);
      if (got <= 0) return all;
      all.append(room, static_cast<size_t>(got));
    }
  }
  bool sink_has_ended() const {
    char byte;
    return ::read(sink_.read.get(), &byte, 1) == 0;
  }

  Pipe source_;
  Pipe sink_;

 private:
  sighandler_t before_ = SIG_DFL;
};

// By another process, before the command was there.
TEST_F(FlowTest, WhatWasTakenAsideIsPassedOnOrIsNot) {
  StreamRelay flow = outward();
  say("of the builder\n");
  EXPECT_EQ(flow.take_aside(3), "of ");
  EXPECT_EQ(flow.take_aside(100), "the builder\n");
  EXPECT_EQ(flow.take_aside(100), "") << "there is no more, and no reader waits for it";
  flow.move(unlimited);
  EXPECT_EQ(heard(), "");
  EXPECT_EQ(flow.bytes(), 0U);
  say("of the command\n");
  flow.pass_on("of the builder\n");
  flow.move(unlimited);
  EXPECT_EQ(heard(), "of the builder\nof the command\n");
  EXPECT_EQ(flow.bytes(), 30U);
}

TEST_F(FlowTest, WhatWasTakenAsideOutlivesItsSource) {
  StreamRelay flow = kept(100);
  say("all");
  source_.write.reset();
  EXPECT_EQ(flow.take_aside(100), "all");
  EXPECT_EQ(flow.take_aside(100), "");
  EXPECT_EQ(flow.wants().fd, -1) << "its end is never news again";
  flow.pass_on("all");
  EXPECT_TRUE(flow.finished());
  EXPECT_EQ(flow.kept(), "all");
}

std::string much_text(size_t size) {
  std::mt19937 random(1);
  std::string text(size, '\0');
  for (auto& byte : text) byte = static_cast<char>(random());
  return text;
}

TEST_F(FlowTest, CarriesNothingByDefault) {
  const StreamRelay flow;
  EXPECT_TRUE(flow.finished());
  EXPECT_EQ(flow.wants().fd, -1);
}

TEST_F(FlowTest, CarriesOutputAndEndsWithIt) {
  StreamRelay flow = outward();
  EXPECT_FALSE(flow.finished());
  EXPECT_EQ(flow.wants().events, POLLIN);
  say("hello ");
  flow.move(unlimited);
  say("world");
  flow.move(unlimited);
  EXPECT_EQ(heard(), "hello world");
  EXPECT_EQ(flow.bytes(), 11U);
  source_.write.reset();
  flow.move(unlimited);
  EXPECT_TRUE(flow.finished());
  EXPECT_EQ(flow.wants().fd, -1);
  EXPECT_EQ(flow.write_error(), 0);
}

TEST_F(FlowTest, DoesNotWaitForASourceThatIsSilent) {
  StreamRelay flow = outward();
  flow.move(unlimited);
  EXPECT_EQ(flow.bytes(), 0U);
  EXPECT_FALSE(flow.finished());
}

// The reader takes a little at a time, so that the flow meets a full pipe again and again.
TEST_F(FlowTest, LosesAndReordersNothingAgainstASlowReader) {
  ::fcntl(sink_.write.get(), F_SETPIPE_SZ, 4096);
  ::fcntl(source_.write.get(), F_SETFL, O_NONBLOCK);
  const std::string text = much_text(700'000);
  StreamRelay flow = outward();
  std::string got;
  size_t said = 0;
  bool waited = false;
  for (int turn = 0; turn < 100'000 && !flow.finished(); ++turn) {
    const ssize_t put =
        ::write(source_.write.get(), text.data() + said, std::min<size_t>(text.size() - said, 30'000));
    if (put > 0) said += static_cast<size_t>(put);
    if (said == text.size()) source_.write.reset();
    flow.move(unlimited);
    waited = waited || flow.wants().events == POLLOUT;
    char room[3001];
    const ssize_t taken = ::read(sink_.read.get(), room, sizeof room);
    if (taken > 0) got.append(room, static_cast<size_t>(taken));
  }
  got += heard();
  EXPECT_TRUE(waited) << "the pipe was never full: the test tested nothing";
  EXPECT_TRUE(flow.finished());
  EXPECT_EQ(flow.bytes(), text.size());
  EXPECT_TRUE(got == text) << got.size() << " of " << text.size();
}

TEST_F(FlowTest, TakesNothingMoreWhileSomethingIsUndelivered) {
  ::fcntl(sink_.write.get(), F_SETPIPE_SZ, 4096);
  StreamRelay flow = outward();
  say(std::string(20'000, 'x'));
  flow.move(unlimited);
  EXPECT_EQ(flow.wants().events, POLLOUT);
  EXPECT_EQ(flow.wants().fd, sink_.write.get());
  const uint64_t before = flow.bytes();
  say("more");
  flow.move(unlimited);
  EXPECT_EQ(flow.bytes(), before);
}

TEST_F(FlowTest, TakesNoMoreThanIsAllowed) {
  StreamRelay flow = outward();
  say("0123456789");
  flow.move(4);
  EXPECT_EQ(flow.bytes(), 4U);
  flow.move(0);
  EXPECT_EQ(flow.bytes(), 4U);
  EXPECT_FALSE(flow.finished());
  flow.move(100);
  EXPECT_EQ(heard(), "0123456789");
}

TEST_F(FlowTest, KeepsUpToItsLimitAndSaysSo) {
  const std::tuple<size_t, std::string, bool> rows[] = {
      {100, "0123456789", false}, {10, "0123456789", false}, {9, "012345678", true}, {0, "", true}};
  for (const auto& [most, text, truncated] : rows) {
    SetUp();
    StreamRelay flow = kept(most);
    say("01234");
    flow.move(unlimited);
    say("56789");
    flow.move(unlimited);
    source_.write.reset();
    flow.move(unlimited);
    EXPECT_EQ(flow.kept(), text) << most;
    EXPECT_EQ(flow.truncated(), truncated) << most;
    EXPECT_EQ(flow.bytes(), 10U) << "what is not kept is counted";
    EXPECT_TRUE(flow.finished());
  }
}

TEST_F(FlowTest, WhatIsTooMuchForMemoryIsSpilled) {
  const std::tuple<size_t, std::string, std::string, bool> rows[] = {
      {100, "0123", "456789", false}, {8, "0123", "4567", true}, {4, "0123", "", true}, {3, "012", "", true}};
  for (const auto& [most, in_memory, spilled, truncated] : rows) {
    SetUp();
    StreamRelay flow =
        StreamRelay::out_of_command(std::move(source_.read), -1, std::nullopt,
                                    {.most = most, .in_memory = 4, .spill = sink_.write.get()});
    for (const char* piece : {"012", "345", "6789"}) {
      say(piece);
      flow.move(unlimited);
    }
    EXPECT_EQ(flow.kept(), in_memory) << most;
    EXPECT_EQ(heard(), spilled) << most;
    EXPECT_EQ(flow.truncated(), truncated) << most;
    EXPECT_EQ(flow.bytes(), 10U);
  }
}

TEST_F(FlowTest, WhatCannotBeSpilledIsSaidToBeMissing) {
  const OwnedFd full = sys::open("/dev/full", O_WRONLY).value();
  StreamRelay flow = StreamRelay::out_of_command(std::move(source_.read), -1, std::nullopt,
                                                 {.most = 100, .in_memory = 2, .spill = full.get()});
  say("01234");
  flow.move(unlimited);
  EXPECT_EQ(flow.kept(), "01");
  EXPECT_TRUE(flow.truncated());
  EXPECT_EQ(flow.write_error(), ENOSPC);
}

TEST_F(FlowTest, GivesUpWhenNobodyReadsAnyMore) {
  StreamRelay flow = outward();
  sink_.read.reset();
  say("into the void");
  flow.move(unlimited);
  EXPECT_EQ(flow.write_error(), EPIPE);
  EXPECT_TRUE(flow.finished());
  EXPECT_EQ(flow.command_end(), -1) << "the command meets a broken pipe";
}

TEST_F(FlowTest, AnErrorOfTheSinkIsKept) {
  const OwnedFd full = std::move(sys::open("/dev/full", O_WRONLY)).value();
  StreamRelay flow = StreamRelay::out_of_command(std::move(source_.read), full.get(), std::nullopt, {});
  say("text");
  flow.move(unlimited);
  EXPECT_EQ(flow.write_error(), ENOSPC);
  EXPECT_TRUE(flow.finished());
}

TEST_F(FlowTest, CarriesInputAndClosesItsEndAfterTheLastByte) {
  StreamRelay flow = inward();
  say("typed");
  flow.move(unlimited);
  EXPECT_EQ(heard(), "typed");
  EXPECT_EQ(flow.last_taken(), "typed");
  EXPECT_FALSE(sink_has_ended());
  source_.write.reset();
  flow.move(unlimited);
  EXPECT_TRUE(flow.finished());
  EXPECT_TRUE(sink_has_ended());
}

TEST_F(FlowTest, InputWaitsForACommandThatDoesNotRead) {
  ::fcntl(sink_.write.get(), F_SETPIPE_SZ, 4096);
  StreamRelay flow = inward();
  const std::string text = much_text(30'000);
  say(text);
  source_.write.reset();
  std::string got;
  for (int turn = 0; turn < 1000 && !flow.finished(); ++turn) {
    flow.move(unlimited);
    got += heard();
  }
  EXPECT_TRUE(got == text) << got.size();
  EXPECT_TRUE(sink_has_ended());
}

TEST_F(FlowTest, InputThatIsAbsentEndsAtOnce) {
  StreamRelay flow = StreamRelay::into_command(-1, std::move(sink_.write));
  EXPECT_TRUE(flow.finished());
  EXPECT_TRUE(sink_has_ended());
}

TEST_F(FlowTest, InputToACommandThatEndedIsDropped) {
  StreamRelay flow = inward();
  sink_.read.reset();
  say("too late");
  flow.move(unlimited);
  EXPECT_TRUE(flow.finished());
}

TEST_F(FlowTest, GivingUpDropsWhatWasNotDelivered) {
  ::fcntl(sink_.write.get(), F_SETPIPE_SZ, 4096);
  StreamRelay flow = outward();
  say(std::string(20'000, 'x'));
  flow.move(unlimited);
  EXPECT_FALSE(flow.finished());
  flow.give_up();
  EXPECT_TRUE(flow.finished());
  EXPECT_EQ(flow.wants().fd, -1);
}

TEST_F(FlowTest, EndingTheSourceStillDeliversTheRest) {
  ::fcntl(sink_.write.get(), F_SETPIPE_SZ, 4096);
  StreamRelay flow = outward();
  say(std::string(20'000, 'x'));
  flow.move(unlimited);
  flow.end_source();
  std::string got;
  for (int turn = 0; turn < 1000 && !flow.finished(); ++turn) {
    got += heard();
    flow.move(unlimited);
  }
  got += heard();
  EXPECT_EQ(got.size(), 20'000U);
}

TEST_F(FlowTest, InputThatEndsIsDeliveredBeforeTheCommandSeesItsEnd) {
  ::fcntl(sink_.write.get(), F_SETPIPE_SZ, 4096);
  StreamRelay flow = inward();
  say(std::string(20'000, 'x'));
  flow.move(unlimited);
  flow.end_source();
  std::string got;
  for (int turn = 0; turn < 1000 && !flow.finished(); ++turn) {
    got += heard();
    flow.move(unlimited);
  }
  got += heard();
  EXPECT_EQ(got.size(), 20'000U);
  EXPECT_TRUE(sink_has_ended());
}

TEST_F(FlowTest, FiltersForATerminalAlsoAcrossPieces) {
  StreamRelay flow = outward(EscapeFilter(Answers::reach_command));
  for (const char* piece : {"a\x1b]0;ti", "tle\x07", "b\x1b", "[31mc"}) {
    say(piece);
    flow.move(unlimited);
  }
  EXPECT_EQ(heard(), "ab\x1b[31mc");
  EXPECT_EQ(flow.bytes(), 18U) << "counted before the filter";
}

}  // namespace
}  // namespace cloche
