#include "gateway/admission/admission.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "base/sys/directory.hpp"
#include "base/sys/fd.hpp"

namespace cloche {
namespace {

using Place = Admission::Place;
using NoPlace = Admission::NoPlace;

size_t descriptors() { return names_in("/proc/self/fd").size(); }

void wait_until_waiting(const Admission& admission, size_t count) {
  for (int i = 0; i < 5000 && admission.waiting() != count; ++i) ::usleep(1000);
  ASSERT_EQ(admission.waiting(), count);
}

bool has_place(const Admission::Entry& entry) { return std::holds_alternative<Place>(entry); }

TEST(Admission, ACallWaitsForAPlace) {
  Admission admission({.running = 1});
  auto first = std::make_unique<Admission::Entry>(admission.enter("a", 0, -1));
  ASSERT_TRUE(has_place(*first));
  std::atomic<bool> begun = false;
  std::thread second([&] { begun = has_place(admission.enter("a", 0, -1)); });
  wait_until_waiting(admission, 1);
  EXPECT_FALSE(begun);
  first.reset();
  second.join();
  EXPECT_TRUE(begun);
}

TEST(Admission, WhatIsCancelledWhileItWaitsLeavesTheQueue) {
  const size_t before = descriptors();
  {
    Admission admission({.running = 1, .waiting = 1});
    auto first = std::make_unique<Admission::Entry>(admission.enter("a", 0, -1));
    const OwnedFd stop(::eventfd(1, EFD_CLOEXEC));
    const auto second = admission.enter("a", 0, stop.get());
    ASSERT_FALSE(has_place(second));
    EXPECT_EQ(std::get<NoPlace>(second), NoPlace::cancelled);
    EXPECT_EQ(admission.waiting(), 0U);
    std::thread third([&] { EXPECT_TRUE(has_place(admission.enter("a", 0, -1))); });
    wait_until_waiting(admission, 1);
    EXPECT_EQ(std::get<NoPlace>(admission.enter("a", 0, -1)), NoPlace::busy);
    first.reset();
    third.join();
  }
  EXPECT_EQ(descriptors(), before);
}

class Nobody : public Approver {
 public:
  explicit Nobody(Admission& admission) : admission_(admission) {}
  Answer ask(const Question&) override {
    other_ran = has_place(admission_.enter("b", 0, -1));
    return {};
  }
  bool other_ran = false;

 private:
  Admission& admission_;
};

TEST(Admission, AnotherHasThePlaceOfACallThatWaitsForAPerson) {
  Admission admission({.running = 1});
  auto entry = admission.enter("a", 0, -1);
  Nobody person(admission);
  PlaceFreeingApprover freeing(std::get<Place>(entry), person);
  (void)freeing.ask({});
  EXPECT_TRUE(person.other_ran);
}

TEST(Admission, NeverMoreThanItsLimitOfManyAtOnce) {
  const size_t before = descriptors();
  {
    Admission admission({.running = 4, .waiting = 16});
    std::atomic<int> running = 0;
    std::atomic<int> most = 0;
    std::atomic<int> done = 0;
    std::atomic<int> busy = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 128; ++i) {
      threads.emplace_back([&, i] {
        const auto entry = admission.enter(i % 2 == 0 ? "a" : "b", 10, -1);
        if (!has_place(entry)) {
          EXPECT_EQ(std::get<NoPlace>(entry), NoPlace::busy);
          ++busy;
          return;
        }
        const int now = ++running;
        int seen = most;
        while (now > seen && !most.compare_exchange_weak(seen, now)) {
        }
        ::usleep(2000);
        --running;
        ++done;
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(done + busy, 128);
    EXPECT_GE(done, 20);
    EXPECT_LE(most, 4);
    EXPECT_EQ(admission.waiting(), 0U);
  }
  EXPECT_EQ(descriptors(), before);
}

}  // namespace
}  // namespace cloche
