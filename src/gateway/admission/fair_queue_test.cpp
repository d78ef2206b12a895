#include "gateway/admission/fair_queue.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace cloche {
namespace {

// What begins while nothing else happens.
std::vector<std::string> begun_of(FairQueue& queue) {
  std::vector<std::string> begun;
  while (const auto next = queue.begin()) begun.push_back(next->tenant + std::to_string(next->ticket));
  return begun;
}

using Begun = std::vector<std::string>;

TEST(CallBounds, AreThoseOfTheMachineUnlessTheyAreSaid) {
  const struct {
    CallBounds bounds;
    MachineSize machine;
    size_t running;
    size_t waiting;
  } rows[] = {
      {{}, {2, uint64_t{24} << 30}, 128, 1024},
      {{}, {2, uint64_t{1} << 30}, 8, 64},
      {{}, {1, uint64_t{64} << 20}, 4, 32},
      {{}, {0, 0}, 64, 512},
      {{}, {128, uint64_t{512} << 30}, 256, 2048},
      {{.at_once = 3}, {2, uint64_t{24} << 30}, 3, 24},
      {{.waiting = 5}, {2, uint64_t{24} << 30}, 128, 5},
      {{.at_once = 1000, .waiting = 1}, {1, 0}, 1000, 1},
  };
  for (const auto& row : rows) {
    const QueueLimits limits = limits_of(row.bounds, row.machine);
    EXPECT_EQ(limits.running, row.running) << row.machine.cores << " " << row.machine.memory_bytes;
    EXPECT_EQ(limits.waiting, row.waiting) << row.machine.cores << " " << row.machine.memory_bytes;
  }
}

TEST(FairQueue, OneTenantIsServedInItsOrder) {
  FairQueue queue({.running = 2});
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(queue.add("a", 0));
  EXPECT_EQ(begun_of(queue), (Begun{"a0", "a1"}));
  queue.end("a");
  EXPECT_EQ(begun_of(queue), (Begun{"a2"}));
  queue.end("a");
  queue.end("a");
  EXPECT_EQ(begun_of(queue), (Begun{"a3"}));
}

TEST(FairQueue, NobodyWaitsBehindAHundredCallsOfAnother) {
  FairQueue queue({.running = 1});
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(queue.add("a", 0));
  EXPECT_EQ(begun_of(queue), (Begun{"a0"}));
  ASSERT_TRUE(queue.add("b", 0));  // 100
  ASSERT_TRUE(queue.add("c", 0));  // 101
  ASSERT_TRUE(queue.add("b", 0));  // 102
  Begun order;
  for (int i = 0; i < 6; ++i) {
    queue.end(order.empty() ? "a" : order.back().substr(0, 1));
    for (auto& begun : begun_of(queue)) order.push_back(begun);
  }
  EXPECT_EQ(order, (Begun{"a1", "b100", "c101", "a2", "b102", "a3"}));
}

TEST(FairQueue, ATenantWithFewerRunningCallsComesFirst) {
  FairQueue queue({.running = 4});
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(queue.add("a", 0));
  EXPECT_EQ(begun_of(queue).size(), 4U);
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(queue.add("b", 0));
  queue.end("a");
  queue.end("a");
  EXPECT_EQ(begun_of(queue), (Begun{"b8", "b9"})) << "each has two now";
}

// One call at a time, by several who come again at once, leaves the others their turn.
TEST(FairQueue, WhoComesAnewIsLastInTurn) {
  FairQueue queue({.running = 1});
  ASSERT_TRUE(queue.add("x", 0));
  EXPECT_EQ(begun_of(queue), (Begun{"x0"}));
  ASSERT_TRUE(queue.add("y", 0));
  ASSERT_TRUE(queue.add("z", 0));
  queue.end("x");
  ASSERT_TRUE(queue.add("x", 0));
  EXPECT_EQ(begun_of(queue), (Begun{"y1"}));
  queue.end("y");
  ASSERT_TRUE(queue.add("y", 0));
  EXPECT_EQ(begun_of(queue), (Begun{"z2"})) << "though it has waited no shorter than x and y";
}

TEST(FairQueue, WhatDoesNotFitIsRefused) {
  FairQueue queue({.running = 1, .waiting = 2, .waiting_bytes = 100});
  EXPECT_TRUE(queue.add("a", 1000)) << "it does not wait";
  EXPECT_FALSE(queue.add("a", 1)) << "before it has begun its bytes count";
  EXPECT_EQ(queue.begin()->ticket, 0U);
  EXPECT_TRUE(queue.add("a", 60));
  EXPECT_FALSE(queue.add("a", 41)) << "too many bytes";
  const auto second = queue.add("a", 40);
  ASSERT_TRUE(second);
  EXPECT_FALSE(queue.add("a", 0)) << "too many calls";
  EXPECT_TRUE(queue.add("b", 100)) << "another tenant has room of its own";
  EXPECT_TRUE(queue.drop(*second));
  EXPECT_FALSE(queue.drop(*second));
  EXPECT_FALSE(queue.drop(0)) << "it runs";
  EXPECT_TRUE(queue.add("a", 40)) << "there is room again";
}

TEST(FairQueue, WhoWaitsForAPersonHasNoPlace) {
  FairQueue queue({.running = 1});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(queue.add("a", 0));
  EXPECT_EQ(begun_of(queue), (Begun{"a0"}));
  queue.step_aside("a");
  EXPECT_EQ(begun_of(queue), (Begun{"a1"}));
  queue.want_back();
  EXPECT_FALSE(queue.may_come_back());
  queue.end("a");
  EXPECT_FALSE(queue.may_begin()) << "the one that comes back is first";
  ASSERT_TRUE(queue.may_come_back());
  queue.come_back("a");
  EXPECT_FALSE(queue.may_begin());
  queue.end("a");
  EXPECT_EQ(begun_of(queue), (Begun{"a2"}));
}

// Against a list that says of each tenant what waits and runs.
TEST(FairQueue, KeepsItsPromisesWhateverHappens) {
  const QueueLimits limits{.running = 3, .waiting = 5, .waiting_bytes = 1000};
  const std::vector<std::string> names = {"a", "b", "c", "d"};
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    FairQueue queue(limits);
    std::map<std::string, std::set<FairQueue::Ticket>> waiting;
    std::map<std::string, size_t> running;
    std::map<std::string, size_t> passed;  // begun by others while it waits and has fewest running
    size_t all_running = 0;
    for (int step = 0; step < 2000; ++step) {
      const std::string& name = names[random() % names.size()];
      const unsigned what = random() % 8;
      if (what < 5) {
        const bool must_fit = waiting[name].size() < limits.waiting || all_running < limits.running;
        const auto ticket = queue.add(name, random() % 10);
        ASSERT_EQ(ticket.has_value(), must_fit) << seed;
        if (ticket) waiting[name].insert(*ticket);
      } else if (what == 5 && !waiting[name].empty()) {
        const auto one = *waiting[name].begin();
        ASSERT_TRUE(queue.drop(one));
        waiting[name].erase(one);
      } else if (running[name] > 0) {
        queue.end(name);
        --running[name];
        --all_running;
      }
      while (const auto begun = queue.begin()) {
        ASSERT_EQ(begun->ticket, *waiting[begun->tenant].begin()) << "its first";
        for (const auto& other : names) {
          if (waiting[other].empty()) continue;
          ASSERT_LE(running[begun->tenant], running[other]) << "the one with the fewest running calls";
          const bool is_passed = other != begun->tenant && running[other] == running[begun->tenant];
          passed[other] = other == begun->tenant ? 0 : passed[other] + (is_passed ? 1 : 0);
          ASSERT_LT(passed[other], names.size()) << other << " waits for more than a round";
        }
        waiting[begun->tenant].erase(begun->ticket);
        if (waiting[begun->tenant].empty()) passed[begun->tenant] = 0;
        ++running[begun->tenant];
        ++all_running;
      }
      ASSERT_LE(all_running, limits.running);
      ASSERT_EQ(queue.running(), all_running);
      size_t all_waiting = 0;
      for (const auto& [tenant, tickets] : waiting) {
        all_waiting += tickets.size();
        if (tickets.empty()) passed[tenant] = 0;
      }
      ASSERT_EQ(queue.waiting(), all_waiting);
      ASSERT_TRUE(all_waiting == 0 || all_running == limits.running) << "no place is free while one waits";
    }
  }
}

}  // namespace
}  // namespace cloche
