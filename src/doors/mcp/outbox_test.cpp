#include "doors/mcp/outbox.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>

#include "base/sys/sys.hpp"
#include "doors/mcp/call_queue.hpp"

namespace cloche::mcp {
namespace {

constexpr OutboxLimits small{.queued_bytes = 1000, .progress_bytes = 20, .progress_every_ms = 1};

// All that can be read until nothing comes for a while.
std::string read_all_of(int fd) {
  std::string text;
  char room[4096];
  pollfd event{fd, POLLIN, 0};
  while (::poll(&event, 1, 100) > 0) {
    const ssize_t got = ::read(fd, room, sizeof room);
    if (got <= 0) break;
    text.append(room, static_cast<size_t>(got));
  }
  return text;
}

class OutboxTest : public testing::Test {
 protected:
  void open(const OutboxLimits& limits = small) {
    pipe = sys::make_pipe().value();
    outbox = Outbox::open(
                 pipe.write.get(), [this] { ++woken; }, limits)
                 .value();
  }
  Pipe pipe;
  std::atomic<int> woken = 0;
  std::unique_ptr<Outbox> outbox;
};

TEST_F(OutboxTest, MessagesInOrder) {
  open();
  for (const char* message : {"one", "two", "three"}) outbox->send(message);
  EXPECT_EQ(read_all_of(pipe.read.get()), "one\ntwo\nthree\n");
}

// The client does not read: send() returns at once, and there is no room until it does.
TEST_F(OutboxTest, ASlowClientBlocksNoSender) {
  open();
  const std::string message(10'000, 'x');
  for (int i = 0; i < 50; ++i) outbox->send(message);
  EXPECT_FALSE(outbox->has_room());
  EXPECT_EQ(read_all_of(pipe.read.get()).size(), 50 * (message.size() + 1));
  EXPECT_TRUE(outbox->has_room());
  EXPECT_GE(woken, 1);
}

TEST_F(OutboxTest, ProgressComesBeforeTheResultAndNotAfterIt) {
  open();
  const auto progress = std::make_shared<Progress>(Progress{.token = "7"});
  outbox->add_output(progress, "hello");
  outbox->finish(progress, "result");
  const std::string text = read_all_of(pipe.read.get());
  EXPECT_EQ(
      text,
      R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":5,"message":"hello"}})"
      "\nresult\n");
}

// Clients give up on a call that they hear nothing of.
TEST_F(OutboxTest, ACallThatIsSilentIsHeardOfUntilItIsFinished) {
  open({.queued_bytes = 1000, .progress_bytes = 20, .progress_every_ms = 1, .silence_ms = 150});
  const auto progress = std::make_shared<Progress>(Progress{.token = "7"});
  outbox->watch(progress);
  ::usleep(400'000);
  std::string text = read_all_of(pipe.read.get());
  const auto first = text.find(R"("progressToken":7,"progress":1,"message":"still running after 0 s"})");
  const auto second = text.find(R"("progressToken":7,"progress":2,)");
  EXPECT_NE(first, std::string::npos) << text;
  EXPECT_NE(second, std::string::npos) << text;
  EXPECT_LT(first, second) << "it grows";
  outbox->add_output(progress, "hello");
  outbox->finish(progress, "result");
  text = read_all_of(pipe.read.get());
  EXPECT_TRUE(text.ends_with("\nresult\n")) << "nothing comes behind the result: " << text;
  EXPECT_EQ(text.find("\"progress\":2,"), std::string::npos) << "output counts on from there: " << text;

  outbox->watch(std::make_shared<Progress>(Progress{.token = "8"}));
  ::usleep(200'000);
  EXPECT_EQ(read_all_of(pipe.read.get()), "") << "its call is gone";
}

// Progress that the client did not take is replaced by the newest.
TEST_F(OutboxTest, ProgressIsBounded) {
  open();
  outbox->send(std::string(100'000, 'x'));  // more than a pipe takes: the writer waits
  const auto progress = std::make_shared<Progress>(Progress{.token = "7"});
  for (int i = 0; i < 1000; ++i) outbox->add_output(progress, "0123456789");
  const std::string text = read_all_of(pipe.read.get()).substr(100'001);
  EXPECT_NE(text.find(R"("progress":10000)"), std::string::npos) << text;
  EXPECT_NE(text.find("[... 9980 bytes ...]"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

TEST_F(OutboxTest, ACharacterInTwoPiecesIsOne) {
  open();
  const auto progress = std::make_shared<Progress>(Progress{.token = "7"});
  outbox->add_output(progress, "a\xe2\x82");
  std::string text = read_all_of(pipe.read.get());
  EXPECT_NE(text.find(R"("message":"a")"), std::string::npos) << text;
  outbox->add_output(progress, "\xac!");
  text = read_all_of(pipe.read.get());
  EXPECT_NE(text.find("\"message\":\"\xe2\x82\xac!\""), std::string::npos) << text;
}

TEST_F(OutboxTest, AClientThatIsGone) {
  ::signal(SIGPIPE, SIG_IGN);
  open();
  pipe.read.reset();
  outbox->send("x");
  for (int i = 0; i < 200 && !outbox->is_broken(); ++i) ::usleep(5000);
  EXPECT_TRUE(outbox->is_broken());
  EXPECT_GE(woken, 1);
  for (int i = 0; i < 1000; ++i) outbox->send(std::string(1000, 'x'));
  EXPECT_TRUE(outbox->has_room()) << "it is dropped";
}

TEST_F(OutboxTest, ClosingDoesNotWaitLong) {
  open();
  outbox->send(std::string(500'000, 'x'));
  const uint64_t begin = sys::monotonic_ms();
  outbox->close(50);
  EXPECT_LT(sys::monotonic_ms() - begin, 1000U);
}

TEST(OutboxSocket, MessagesThroughASocket) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const OwnedFd ours(ends[0]);
  const OwnedFd theirs(ends[1]);
  const auto outbox = Outbox::open(
                          ours.get(), [] {}, small)
                          .value();
  outbox->send(std::string(1'000'000, 'x'));
  EXPECT_EQ(read_all_of(theirs.get()).size(), 1'000'001U);
}

TEST(CallQueue, FirstComeFirstServedWithinItsLimits) {
  std::mutex lock;
  std::condition_variable go;
  bool open = false;
  std::vector<int> order;
  CallQueue queue([] {}, {.running = 1, .waiting = 3, .waiting_bytes = 100});
  const auto work = [&](int number) {
    return [&, number] {
      std::unique_lock held(lock);
      go.wait(held, [&] { return open; });
      order.push_back(number);
    };
  };
  EXPECT_TRUE(queue.add(work(0), 10));
  EXPECT_FALSE(queue.wait_until_idle(50));  // it runs now
  EXPECT_TRUE(queue.add(work(1), 50));
  EXPECT_FALSE(queue.add(work(9), 60)) << "too many bytes";
  EXPECT_TRUE(queue.add(work(2), 50));
  EXPECT_TRUE(queue.add(work(3), 0));
  EXPECT_FALSE(queue.add(work(9), 0)) << "too many calls";
  {
    const std::lock_guard held(lock);
    open = true;
  }
  go.notify_all();
  EXPECT_TRUE(queue.wait_until_idle(5000));
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_TRUE(queue.add(work(4), 100)) << "there is room again";
}

// One that waits until it is told to go on.
struct Gate {
  void pass() {
    std::unique_lock held(lock);
    changed.wait(held, [&] { return open; });
  }
  void let_go() {
    const std::lock_guard held(lock);
    open = true;
    changed.notify_all();
  }
  std::mutex lock;
  std::condition_variable changed;
  bool open = false;
};

TEST(CallQueue, WhatIsDroppedLeavesItsPlaceToOthers) {
  Gate gate;
  std::atomic<int> done = 0;
  CallQueue queue([] {}, {.running = 1, .waiting = 2, .waiting_bytes = 100});
  std::atomic<bool> begun = false;
  const auto first = queue.add([&] { begun = true, gate.pass(); }, 0);
  ASSERT_TRUE(first);
  while (!begun) ::usleep(1000);
  EXPECT_FALSE(queue.drop(*first)) << "it runs";
  const auto second = queue.add([&] { done += 10; }, 60);
  ASSERT_TRUE(queue.add([&] { ++done; }, 40));
  EXPECT_FALSE(queue.add([&] { ++done; }, 0));
  EXPECT_TRUE(queue.drop(*second));
  EXPECT_FALSE(queue.drop(*second)) << "it is not there any more";
  EXPECT_TRUE(queue.add([&] { ++done; }, 60)) << "its bytes are free as well";
  gate.let_go();
  EXPECT_TRUE(queue.wait_until_idle(5000));
  EXPECT_EQ(done, 2);
}

TEST(CallQueue, WhoWaitsForAPersonHasNoPlace) {
  Gate person;
  Gate work;
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::atomic<int> refused = 0;
  const auto count = [&] {
    const int now = ++running;
    int seen = most;
    while (now > seen && !most.compare_exchange_weak(seen, now)) {
    }
  };
  CallQueue queue([] {}, {.running = 2}, 3);
  const auto asking = [&] {
    count();
    {
      --running;
      const CallQueue::Aside aside(queue);
      if (aside.granted()) {
        person.pass();
      } else {
        ++refused;
      }
    }
    count();
    work.pass();
    --running;
  };
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(queue.add(asking, 0));
  for (int i = 0; i < 5000 && refused == 0; ++i) ::usleep(1000);
  EXPECT_EQ(refused, 1) << "three wait, and no more can";
  std::atomic<bool> other = false;
  queue.add([&] { other = true; }, 0);
  work.let_go();
  for (int i = 0; i < 2000 && !other; ++i) ::usleep(1000);
  EXPECT_TRUE(other) << "though three wait";
  EXPECT_FALSE(queue.wait_until_idle(50)) << "who waits has not ended";
  person.let_go();
  EXPECT_TRUE(queue.wait_until_idle(5000));
  EXPECT_LE(most, 2);
}

TEST(CallQueue, WhatWaitsIsForgottenAtTheEnd) {
  std::atomic<int> done = 0;
  {
    CallQueue queue([] {}, {.running = 1});
    queue.add([&] { ::usleep(100'000), ++done; }, 0);
    ::usleep(20'000);
    queue.add([&] { ++done; }, 0);
    queue.stop_beginning();
    EXPECT_FALSE(queue.add([&] { ++done; }, 0));
  }
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace cloche::mcp
