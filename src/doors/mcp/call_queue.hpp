// The calls that wait and those that run, in the order of the fair queue, by a bounded number of threads that
// are made when they are first needed. What does not fit is refused at once and waits nowhere.
//
// Who waits for whom: a call that waits for a person steps aside. Its thread goes on to wait, its place is
// another's meanwhile, and when the person has answered it has the next place that is free.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "gateway/admission/fair_queue.hpp"

namespace cloche::mcp {

inline constexpr size_t most_aside = 128;  // that wait for a person's answer, beside those that run

class CallQueue {
 public:
  using Ticket = FairQueue::Ticket;

  // `before_each` is called by a thread before it takes the next one, and may wait.
  explicit CallQueue(std::function<void()> before_each, QueueLimits limits = {}, size_t aside = most_aside)
      : before_each_(std::move(before_each)), limits_(limits), most_aside_(aside), queue_(limits) {}
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;
  ~CallQueue() { close(); }

  // Nothing: there is no room. `bytes` is what it holds on to while it waits.
  std::optional<Ticket> add(std::function<void()> work, size_t bytes);
  // Forgets one that has not begun. False: it has.
  bool drop(Ticket ticket);
  // True once nothing waits and nothing runs; false when that takes longer.
  bool wait_until_idle(unsigned most_ms);
  void stop_beginning();  // what waits is forgotten
  // The same, and returns when what runs has ended.
  void close();

  // Held by what runs while it waits for a person.
  class Aside {
   public:
    explicit Aside(CallQueue& queue) : queue_(queue), granted_(queue.step_aside()) {}
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;
    ~Aside() {
      if (granted_) queue_.come_back();
    }
    bool granted() const { return granted_; }  // false: too many wait already

   private:
    CallQueue& queue_;
    const bool granted_;
  };

 private:
  using Work = std::function<void()>;
  bool step_aside();
  void come_back();
  bool is_idle() const { return queue_.waiting() == 0 && queue_.running() == 0 && aside_ == 0; }
  void have_a_thread();
  void start_thread();
  void run();

  const std::function<void()> before_each_;
  const QueueLimits limits_;
  const size_t most_aside_;
  std::mutex lock_;
  std::condition_variable something_;
  std::condition_variable place_;  // for those who come back
  std::condition_variable idle_;
  FairQueue queue_;
  std::map<Ticket, Work> waiting_;
  size_t aside_ = 0;
  size_t resting_ = 0;  // threads with nothing to do
  bool closing_ = false;
  std::vector<pthread_t> threads_;
};

}  // namespace cloche::mcp
