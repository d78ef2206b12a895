// A pseudo terminal with a person at it: what is typed, when it was typed, and what happens without a person.
#include "doors/approve/terminal_approver.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <future>

#include "base/sys/fd.hpp"
#include "base/sys/sys.hpp"

namespace cloche {
namespace {

constexpr const char* prompt = "else: no > ";

class TerminalQuestion : public testing::Test {
 protected:
  void SetUp() override {
    int keyboard = -1;
    int terminal = -1;
    char name[128] = "";
    if (::openpty(&keyboard, &terminal, name, nullptr, nullptr) != 0)
      GTEST_SKIP() << "skipped: no pseudo terminals";
    keyboard_ = OwnedFd(keyboard);
    terminal_ = OwnedFd(terminal);
    name_ = name;
  }

  void type(const std::string& keys) const { ASSERT_TRUE(sys::write_all(keyboard_.get(), keys).ok()); }

  std::future<Answer> start(uint64_t timeout_ms) const {
    return std::async(std::launch::async, [this, timeout_ms] {
      TerminalApprover approver(timeout_ms, name_);
      return approver.ask(question_);
    });
  }

  // Everything on the screen until `end` stands there, or two seconds have passed.
  std::string screen_until(const std::string& end) const {
    std::string screen;
    const uint64_t deadline = sys::monotonic_ms() + 2000;
    while (screen.find(end) == std::string::npos && sys::monotonic_ms() < deadline) {
      pollfd one{keyboard_.get(), POLLIN, 0};
      if (::poll(&one, 1, 50) <= 0) continue;
      char buffer[4096];
      const ssize_t got = ::read(keyboard_.get(), buffer, sizeof buffer);
      if (got <= 0) break;
      screen.append(buffer, static_cast<size_t>(got));
    }
    return screen;
  }

  Answer answer_to(const std::string& keys, uint64_t timeout_ms = 5000) {
    auto asked = start(timeout_ms);
    EXPECT_NE(screen_until(prompt).find("command     make"), std::string::npos);
    type(keys);
    return asked.get();
  }

  termios settings() const {
    termios now{};
    EXPECT_EQ(::tcgetattr(terminal_.get(), &now), 0);
    return now;
  }

  OwnedFd keyboard_;
  OwnedFd terminal_;
  std::string name_;
  Question question_{"sha256:d", "command     make\n"};
};

struct Typed {
  const char* keys;
  Decision decision;
  uint64_t uses;
};

TEST_F(TerminalQuestion, OnlyAYesIsAYes) {
  const Typed rows[] = {
      {"y\r", Decision::allow, 1},
      {"yes\n", Decision::allow, 1},
      {"s\r", Decision::allow, 1000},
      {"session\r", Decision::allow, 1000},
      {"nx\x7f\x7fy\r", Decision::allow, 1},
      {"\r", Decision::deny, 1},
      {"n\r", Decision::deny, 1},
      {"yn\r", Decision::deny, 1},
      {"yes!\r", Decision::deny, 1},
      {"y \r", Decision::deny, 1},
      {"\x03", Decision::deny, 1},
      {"y\x03", Decision::deny, 1},
      {"y\x04", Decision::deny, 1},
      {"\x1b[A\r", Decision::deny, 1},
      {"yyyyyyyyyyyyyyyyyyyyyyyy\r", Decision::deny, 1},
      {"\xd1\x83\r", Decision::deny, 1},  // a letter that looks like y
  };
  for (const auto& row : rows) {
    const Answer answer = answer_to(row.keys);
    EXPECT_EQ(answer.decision, row.decision) << row.keys;
    EXPECT_EQ(answer.uses, row.uses) << row.keys;
    EXPECT_EQ(answer.digest, "sha256:d");
    screen_until("allowed");
  }
}

TEST_F(TerminalQuestion, NoAnswerInTimeIsNo) {
  const uint64_t start = sys::monotonic_ms();
  EXPECT_EQ(TerminalApprover(200, name_).ask(question_).decision, Decision::deny);
  EXPECT_LT(sys::monotonic_ms() - start, 2000U);
  EXPECT_EQ(answer_to("y", 400).decision, Decision::deny) << "without Enter it is not finished";
}

TEST_F(TerminalQuestion, WhatWasTypedBeforeDoesNotCount) {
  type("y\ry\ry\n");
  auto asked = start(500);
  screen_until(prompt);
  EXPECT_EQ(asked.get().decision, Decision::deny);
  EXPECT_EQ(answer_to("y\r").decision, Decision::allow) << "the control";
}

TEST_F(TerminalQuestion, OneQuestionAtATime) {
  TerminalApprover approver(3000, name_);
  const auto ask = [&](const char* digest) {
    return std::async(std::launch::async, [&approver, digest] {
      return approver.ask({digest, "about " + std::string(digest) + "\n"});
    });
  };
  auto first = ask("one");
  EXPECT_NE(screen_until(prompt).find("about one"), std::string::npos);
  auto second = ask("two");
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout);
  type("y\r");
  EXPECT_EQ(first.get().decision, Decision::allow);
  EXPECT_NE(screen_until(prompt).find("about two"), std::string::npos);
  type("n\r");
  EXPECT_EQ(second.get().decision, Decision::deny);
}

TEST_F(TerminalQuestion, TheTerminalIsAsItWas) {
  termios odd = settings();
  odd.c_lflag &= static_cast<tcflag_t>(~(ECHO | ISIG));
  odd.c_oflag &= static_cast<tcflag_t>(~OPOST);
  ASSERT_EQ(::tcsetattr(terminal_.get(), TCSANOW, &odd), 0);
  for (const char* keys : {"y\r", "\x03", ""}) {
    answer_to(keys, 300);
    const termios now = settings();
    EXPECT_EQ(now.c_lflag, odd.c_lflag);
    EXPECT_EQ(now.c_oflag, odd.c_oflag);
    EXPECT_EQ(now.c_iflag, odd.c_iflag);
    screen_until("allowed");
  }
}

TEST_F(TerminalQuestion, NothingButPlainTextReachesTheScreen) {
  question_.text =
      "command     make\x1b]0;title\x07\xc2\x9b"
      "2J\n";
  auto asked = start(300);
  const std::string screen = screen_until("not allowed");
  asked.get();
  for (char c : screen) EXPECT_TRUE(c == '\r' || c == '\n' || (c >= 0x20 && c < 0x7f));
  EXPECT_NE(screen.find("make?]0;title"), std::string::npos);
}

TEST_F(TerminalQuestion, AStoppedTerminalDoesNotHoldUsUp) {
  ASSERT_EQ(::tcflow(terminal_.get(), TCOOFF), 0);
  question_.text = std::string(100'000, 'x');
  const uint64_t start = sys::monotonic_ms();
  EXPECT_EQ(TerminalApprover(300, name_).ask(question_).decision, Decision::deny);
  EXPECT_LT(sys::monotonic_ms() - start, 3000U);
  ::tcflow(terminal_.get(), TCOON);
}

TEST(TerminalApprover, WithoutATerminalItIsNo) {
  const Question question{"sha256:d", "text\n"};
  for (const char* path : {"/nonexistent", "/dev/null", "/proc/self/exe", "/"}) {
    const Answer answer = TerminalApprover(1000, path).ask(question);
    EXPECT_EQ(answer.decision, Decision::deny) << path;
    EXPECT_EQ(answer.digest, "sha256:d");
  }
}

// In a process of its own, whose controlling terminal it is.
class ControllingTerminal : public testing::Test {
 protected:
  // What `child` returns becomes the exit code.
  template <typename Child, typename Parent>
  int with_child(Child child, Parent parent) {
    int keyboard = -1;
    const pid_t pid = ::forkpty(&keyboard, nullptr, nullptr, nullptr);
    if (pid < 0) return -1;
    if (pid == 0) ::_exit(child());
    const OwnedFd keys(keyboard);
    parent(keyboard, pid);
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  static void wait_for_prompt(int keyboard) {
    std::string screen;
    char c = 0;
    while (screen.find(prompt) == std::string::npos && ::read(keyboard, &c, 1) == 1) screen += c;
  }

  static int ask() {
    const Answer answer = TerminalApprover(5000).ask({"sha256:d", "text\n"});
    return answer.decision == Decision::allow ? 10 : 11;
  }
};

TEST_F(ControllingTerminal, IsAskedAndNotStdin) {
  const int code = with_child(
      [] {
        const auto feed = sys::make_pipe();
        if (!feed.ok() || !sys::write_all(feed.value().write.get(), "y\ny\n").ok()) return 1;
        if (::dup2(feed.value().read.get(), 0) < 0) return 2;
        return ask();
      },
      [](int keyboard, pid_t) {
        wait_for_prompt(keyboard);
        (void)sys::write_all(keyboard, "n\r");
      });
  EXPECT_EQ(code, 11) << "stdin said y, the person said n";
}

TEST_F(ControllingTerminal, ASignalIsServedAfterTheTerminalIs) {
  const int code = with_child([] { return ask(); },
                              [](int keyboard, pid_t pid) {
                                wait_for_prompt(keyboard);
                                ::kill(pid, SIGTERM);
                              });
  EXPECT_EQ(code, 128 + SIGTERM);
}

TEST_F(ControllingTerminal, InTheBackgroundNoQuestionIsAsked) {
  const int code = with_child(
      [] {
        const pid_t pid = ::fork();
        if (pid == 0) {
          ::setpgid(0, 0);
          ::_exit(ask());
        }
        int status = 0;
        ::waitpid(pid, &status, WUNTRACED);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
      },
      [](int, pid_t) {});
  EXPECT_EQ(code, 11);
}

}  // namespace
}  // namespace cloche
