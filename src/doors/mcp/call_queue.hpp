// The calls that wait and those that run: first come, first served, by a bounded number of threads that are
// made when they are first needed. What does not fit is refused at once and waits nowhere.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

namespace cloche::mcp {

struct QueueLimits {
  size_t running = 32;  // also calls that wait for somebody's answer
  size_t waiting = 1024;
  size_t waiting_bytes = size_t{64} << 20;  // of their arguments
};

class CallQueue {
 public:
  // `before_each` is called by a thread before it takes the next one, and may wait.
  explicit CallQueue(std::function<void()> before_each, QueueLimits limits = {})
      : before_each_(std::move(before_each)), limits_(limits) {}
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;
  ~CallQueue() { close(); }

  // False: there is no room. `bytes` is what it holds on to while it waits.
  bool add(std::function<void()> work, size_t bytes);
  // True once nothing waits and nothing runs; false when that takes longer.
  bool wait_until_idle(unsigned most_ms);
  void stop_beginning();  // what waits is forgotten
  // The same, and returns when what runs has ended.
  void close();

 private:
  struct Waiting {
    std::function<void()> work;
    size_t bytes;
  };
  void start_thread();
  void run();

  const std::function<void()> before_each_;
  const QueueLimits limits_;
  std::mutex lock_;
  std::condition_variable something_;
  std::condition_variable idle_;
  std::deque<Waiting> waiting_;
  size_t waiting_bytes_ = 0;
  size_t running_ = 0;
  size_t resting_ = 0;  // threads with nothing to do
  bool closing_ = false;
  std::vector<pthread_t> threads_;
};

}  // namespace cloche::mcp
