#include "confine/supervise/terminal.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <vector>

#include "base/sys/fd.hpp"

namespace cloche {
namespace {

struct Press {
  const char* typed;
  uint64_t at_ms;
  bool insists;
};

TEST(Insistence, IsThreeInASecondAndNothingBetween) {
  const std::vector<Press> stories[] = {
      {{"\x03", 0, false}, {"\x03", 100, false}, {"\x03", 200, true}},
      {{"\x03", 5000, false}, {"\x03", 5500, false}, {"\x03", 6000, true}},
      {{"\x03", 5000, false}, {"\x03", 5500, false}, {"\x03", 6001, false}},
      {{"\x03", 0, false},
       {"\x03", 2000, false},
       {"\x03", 4000, false},
       {"\x03", 4100, false},
       {"\x03", 4200, true}},
      {{"\x03\x03\x03", 0, true}},
      {{"\x03\x03", 0, false}, {"\x03", 900, true}},
      {{"\x03", 0, false}, {"\x03", 10, false}, {"a", 20, false}, {"\x03", 30, false}},
      {{"\x03"
        "a\x03"
        "b\x03",
        0, false}},
      {{"abc\x03\x03\x03", 0, true}},
      {{"", 0, false}, {"\x03", 0, false}, {"", 1, false}, {"\x03", 2, false}, {"\x03", 3, true}},
      {{"\x1b[A\r\n", 0, false}},
  };
  for (const auto& story : stories) {
    Insistence insistence;
    for (const auto& press : story)
      EXPECT_EQ(insistence.insists(press.typed, press.at_ms), press.insists) << press.at_ms;
  }
}

class Terminal : public testing::Test {
 protected:
  void SetUp() override {
    int master = -1;
    int slave = -1;
    if (::openpty(&master, &slave, nullptr, nullptr, nullptr) != 0)
      GTEST_SKIP() << "skipped: no pseudo terminals";
    master_ = OwnedFd(master);
    slave_ = OwnedFd(slave);
  }
  termios settings() const {
    termios now{};
    EXPECT_EQ(::tcgetattr(slave_.get(), &now), 0);
    return now;
  }
  OwnedFd master_;
  OwnedFd slave_;
};

TEST_F(Terminal, IsRawForAWhileAndAsItWasAfterwards) {
  termios odd = settings();
  odd.c_lflag &= ~static_cast<tcflag_t>(ECHOE);
  ASSERT_EQ(::tcsetattr(slave_.get(), TCSANOW, &odd), 0);
  const termios before = settings();
  {
    const RawTerminal raw(slave_.get());
    EXPECT_EQ(settings().c_lflag & static_cast<tcflag_t>(ICANON | ECHO | ISIG), 0U);
    EXPECT_EQ(settings().c_oflag & static_cast<tcflag_t>(OPOST), 0U);
  }
  EXPECT_EQ(settings().c_lflag, before.c_lflag);
  EXPECT_EQ(settings().c_iflag, before.c_iflag);
  EXPECT_EQ(settings().c_oflag, before.c_oflag);
}

TEST_F(Terminal, WhatIsNoneIsLeftAlone) {
  const termios before = settings();
  const OwnedFd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(file);
  const int flags = ::fcntl(file.get(), F_GETFL);
  for (const int none : {-1, file.get()}) {
    const RawTerminal nothing(none);
    EXPECT_EQ(settings().c_lflag, before.c_lflag) << "nor another one";
  }
  EXPECT_EQ(::fcntl(file.get(), F_GETFL), flags);
  EXPECT_EQ(settings().c_lflag, before.c_lflag);
}

TEST_F(Terminal, TakesTheKeyThatItsUserSetForAnInterrupt) {
  EXPECT_TRUE(interrupts(master_.get(), "abc\x03"));
  EXPECT_FALSE(interrupts(master_.get(), "abc"));
  termios other = settings();
  other.c_cc[VINTR] = 'x';
  ASSERT_EQ(::tcsetattr(slave_.get(), TCSANOW, &other), 0);
  EXPECT_TRUE(interrupts(master_.get(), "x"));
  EXPECT_FALSE(interrupts(master_.get(), "\x03"));
  const RawTerminal raw(slave_.get());  // an editor's: every key is data
  EXPECT_FALSE(interrupts(master_.get(), "x"));
  EXPECT_FALSE(interrupts(-1, "x"));
}

TEST_F(Terminal, HandsItsSizeOn) {
  int other_master = -1;
  int other_slave = -1;
  ASSERT_EQ(::openpty(&other_master, &other_slave, nullptr, nullptr, nullptr), 0);
  const OwnedFd master(other_master);
  const OwnedFd slave(other_slave);
  const winsize size{.ws_row = 33, .ws_col = 77, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(::ioctl(slave_.get(), TIOCSWINSZ, &size), 0);
  copy_window_size(slave_.get(), master.get());
  winsize seen{};
  ASSERT_EQ(::ioctl(slave.get(), TIOCGWINSZ, &seen), 0);
  EXPECT_EQ(seen.ws_row, 33);
  EXPECT_EQ(seen.ws_col, 77);
  copy_window_size(-1, master.get());
}

TEST(SuspendKey, ExplainsOneStopThatFollowsSoon) {
  SuspendKey key;
  EXPECT_FALSE(key.explains_stop(0));
  key.typed(0);
  EXPECT_TRUE(key.explains_stop(0));
  EXPECT_FALSE(key.explains_stop(0)) << "the next was not typed";
  key.typed(1000);
  EXPECT_TRUE(key.explains_stop(6000));
  key.typed(1000);
  EXPECT_FALSE(key.explains_stop(6001));
  EXPECT_FALSE(key.explains_stop(1000));
}

TEST_F(Terminal, DropsAnAnswerThatNobodyHasRead) {
  const auto waiting = [&](int patience_ms = 2000) {  // the kernel carries it over in its own time
    pollfd there{slave_.get(), POLLIN, 0};
    (void)::poll(&there, 1, patience_ms);
    int bytes = -1;
    ::ioctl(slave_.get(), FIONREAD, &bytes);
    return bytes;
  };
  {
    const RawTerminal raw(slave_.get());
    EXPECT_FALSE(raw.waits());
    ASSERT_EQ(::write(master_.get(), "\x1b[5;1R", 6), 6);
    EXPECT_EQ(waiting(), 6);
    raw.drop_answers();
    EXPECT_EQ(waiting(0), 0);
    ASSERT_EQ(::write(master_.get(), "late", 4), 4);
    EXPECT_EQ(waiting(), 4);
  }
  ASSERT_EQ(::write(master_.get(), "\n", 1), 1);
  EXPECT_EQ(waiting(), 1) << "the line alone";
}

TEST_F(Terminal, KnowsTheKeyThatItsUserHasSet) {
  termios with_key = settings();
  const struct {
    cc_t key;
    const char* typed;
    bool suspends;
  } rows[] = {{0x1a, "\x1a", true},  {0x1a, "ab\x1a", true}, {0x1a, "\x03", false},
              {0x19, "\x1a", false}, {0x19, "\x19", true},   {_POSIX_VDISABLE, "\x1a", false}};
  for (const auto& row : rows) {
    with_key.c_cc[VSUSP] = row.key;
    ASSERT_EQ(::tcsetattr(slave_.get(), TCSANOW, &with_key), 0);
    RawTerminal raw(slave_.get());
    EXPECT_EQ(raw.suspends(row.typed), row.suspends) << int{row.key};
    raw.leave();
    EXPECT_TRUE(raw.waits());
    EXPECT_FALSE(raw.suspends(row.typed)) << "while another job has it";
  }
}

}  // namespace
}  // namespace cloche
