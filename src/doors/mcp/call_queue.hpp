// The calls that wait and those that run: first come, first served, by a bounded number of threads that are
// made when they are first needed. What does not fit is refused at once and waits nowhere.
//
// Who waits for whom: a call that waits for a person steps aside. Its thread goes on to wait, its place is
// another's meanwhile, and when the person has answered it has the next place that is free.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

namespace cloche::mcp {

struct QueueLimits {
  size_t running = 32;
  size_t aside = 128;  // that wait for a person's answer, beside those that run
  size_t waiting = 1024;
  size_t waiting_bytes = size_t{64} << 20;  // of their arguments
};

class CallQueue {
 public:
  using Ticket = uint64_t;

  // `before_each` is called by a thread before it takes the next one, and may wait.
  explicit CallQueue(std::function<void()> before_each, QueueLimits limits = {})
      : before_each_(std::move(before_each)), limits_(limits) {}
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
  struct Waiting {
    Ticket ticket;
    std::function<void()> work;
    size_t bytes;
  };
  bool step_aside();
  void come_back();
  bool may_begin() const { return !waiting_.empty() && running_ + returning_ < limits_.running; }
  bool is_idle() const { return waiting_.empty() && running_ == 0 && aside_ == 0; }
  void have_a_thread();
  void start_thread();
  void run();
  Waiting take_first();

  const std::function<void()> before_each_;
  const QueueLimits limits_;
  std::mutex lock_;
  std::condition_variable something_;
  std::condition_variable place_;  // for those who come back
  std::condition_variable idle_;
  std::deque<Waiting> waiting_;
  Ticket next_ticket_ = 0;
  size_t waiting_bytes_ = 0;
  size_t running_ = 0;
  size_t aside_ = 0;
  size_t returning_ = 0;  // of those: they have been answered
  size_t resting_ = 0;    // threads with nothing to do
  bool closing_ = false;
  std::vector<pthread_t> threads_;
};

}  // namespace cloche::mcp
