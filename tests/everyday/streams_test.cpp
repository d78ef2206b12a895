// What goes in and out of `cloche run` and how it ends: bytes unchanged, nothing held back, codes passed on
// exactly.
#include <signal.h>

#include <random>

#include "everyday/conversation.hpp"
#include "everyday/support.hpp"

namespace cloche::test {
namespace {

using std::chrono::seconds;
constexpr size_t hundred_mb = 100'000'000;

std::string noise(size_t size) {
  std::mt19937_64 random(42);
  std::string out(size, '\0');
  for (size_t i = 0; i + 8 <= size; i += 8) {
    const uint64_t word = random();
    memcpy(out.data() + i, &word, 8);
  }
  return out;
}

class Streams : public Everyday {};
FOR_EVERYONE(Streams);

TEST_P(Streams, HundredMegabytesThroughCat) {
  const std::string sent = noise(hundred_mb);
  const Ran ran = inside({"cat"}, {.input = sent, .deadline = seconds(90)});
  ASSERT_TRUE(exited(ran, 0));
  EXPECT_EQ(ran.out.size(), sent.size());
  EXPECT_TRUE(ran.out == sent);
}

TEST_P(Streams, HundredMegabytesOfOutput) {
  const Ran ran = inside({"head", "-c", std::to_string(hundred_mb), "/dev/zero"}, {.deadline = seconds(90)});
  ASSERT_TRUE(exited(ran, 0));
  EXPECT_TRUE(ran.out == std::string(hundred_mb, '\0'));
}

TEST_P(Streams, HundredMegabytesOfInputThatIsNotRead) {
  const Ran ran = inside({"sh", "-c", "head -c 5; exit 6"}, {.input = std::string(hundred_mb, 'x')});
  EXPECT_TRUE(exited(ran, 6));
  EXPECT_EQ(ran.out, "xxxxx");
}

TEST_P(Streams, BinaryIsUnchangedOnBothOutputs) {
  if (bare() && as() == As::nobody) GTEST_SKIP() << "skipped: without Cloche the pipes belong to root";
  std::string every_byte;
  for (int i = 0; i < 512; ++i) every_byte += static_cast<char>(i % 256);
  every_byte += "\r\n\x1b]0;title\x07\x1b[31m";
  const Ran ran = inside({"tee", "/dev/stderr"}, {.input = every_byte});
  ASSERT_TRUE(exited(ran, 0));
  EXPECT_TRUE(ran.out == every_byte);
  EXPECT_TRUE(ran.err == every_byte);
}

TEST_P(Streams, OutputsAreKeptApart) {
  const Ran ran = bash("for i in 1 2 3; do echo out$i; echo err$i >&2; done");
  ASSERT_TRUE(exited(ran, 0));
  EXPECT_EQ(ran.out, "out1\nout2\nout3\n");
  EXPECT_EQ(ran.err, "err1\nerr2\nerr3\n");
}

TEST_P(Streams, EndOfInputIsPassedOn) {
  EXPECT_TRUE(printed(inside({"wc", "-c"}, {.input = ""}), "0\n"));
  EXPECT_TRUE(printed(inside({"wc", "-c"}, {.input = "12345"}), "5\n"));
  EXPECT_TRUE(printed(inside({"cat"}), ""));
}

TEST_P(Streams, OutputComesWhileTheCommandRuns) {
  Conversation talk(command({"sh", "-c", "echo first; read line; echo got $line; echo to-err >&2; cat"}),
                    Over::pipes);
  ASSERT_TRUE(talk.hear("first\n"));
  talk.send("hello\n");
  ASSERT_TRUE(talk.hear("got hello\n"));
  talk.send("more\n");
  ASSERT_TRUE(talk.hear("more\n"));
  talk.end_input();
  const Ran ran = talk.finish();
  EXPECT_TRUE(exited(ran, 0));
  EXPECT_EQ(ran.err, "to-err\n");
}

TEST_P(Streams, AReaderThatLeavesEarlyEndsIt) {
  Conversation talk(command({"yes"}), Over::pipes);
  ASSERT_TRUE(talk.hear("y\ny\n"));
  talk.stop_listening();
  const Ran ran = talk.finish(seconds(5));
  EXPECT_FALSE(ran.timed_out);
  EXPECT_NE(ran.exit_code, 0);
}

TEST_P(Streams, HeadOfAnEndlessPipe) {
  Command how = command({"yes"});
  std::string line;
  for (const auto& word : how.argv) line += "'" + word + "' ";
  how.argv = {"bash", "-c", "set -o pipefail; " + line + "| head -n 2; echo ${PIPESTATUS[0]}"};
  how.deadline = seconds(10);
  const Ran ran = run(how);
  ASSERT_TRUE(exited(ran, 0));
  EXPECT_TRUE(contains(ran.out, "y\ny\n")) << ran.out;
  EXPECT_NE(last_line(ran.out), "0");
  EXPECT_LT(ran.seconds, 5);
}

class Endings : public Everyday {};
FOR_EVERYONE(Endings);

TEST_P(Endings, ExitCodesArePassedOnExactly) {
  for (int code : {0, 1, 2, 42, 124, 125, 126, 127, 128, 130, 137, 255}) {
    const Ran ran = inside({"sh", "-c", "exit " + std::to_string(code)});
    EXPECT_TRUE(exited(ran, code));
    EXPECT_EQ(ran.err, "");
  }
}

TEST_P(Endings, SignalsBecome128AndTheirNumber) {
  const std::pair<const char*, int> signals[] = {
      {"TERM", SIGTERM}, {"SEGV", SIGSEGV}, {"ABRT", SIGABRT}, {"KILL", SIGKILL}, {"INT", SIGINT},
      {"HUP", SIGHUP},   {"USR1", SIGUSR1}, {"PIPE", SIGPIPE}, {"QUIT", SIGQUIT}, {"ALRM", SIGALRM}};
  for (const auto& [name, number] : signals) {
    if (bare() && number == SIGPIPE) continue;  // ignored by the harness; reset inside
    EXPECT_TRUE(exited(inside({"sh", "-c", std::string("kill -") + name + " $$; sleep 3"}), 128 + number))
        << name;
  }
}

TEST_P(Endings, ACrashLeavesNoCoreFile) {
  if (bare()) GTEST_SKIP() << "skipped: without Cloche it may";
  EXPECT_TRUE(exited(bash("ulimit -c unlimited 2>/dev/null; kill -SEGV $$; sleep 20"), 139));
  EXPECT_TRUE(fs::is_empty(workspace()));
  EXPECT_TRUE(printed(bash("ulimit -c"), "0\n"));
}

TEST_P(Endings, BackgroundProcessesEndWithTheCommand) {
  if (bare()) GTEST_SKIP() << "skipped: without Cloche they stay";
  const Ran ran = bash("(setsid sleep 60 &) ; sleep 60 & echo started", {.deadline = seconds(20)});
  EXPECT_TRUE(printed(ran, "started\n"));
  EXPECT_LT(ran.seconds, 10);
}

TEST_P(Endings, WhatTheLastProcessWroteIsNotLost) {
  for (int i = 0; i < 20; ++i) {
    const Ran ran = inside({"sh", "-c", "head -c 60000 /dev/zero; echo end >&2; exit 3"});
    ASSERT_TRUE(exited(ran, 3));
    ASSERT_EQ(ran.out.size(), 60000U);
    ASSERT_EQ(ran.err, "end\n");
  }
}

}  // namespace
}  // namespace cloche::test
