#include "doors/mcp/call_queue.hpp"

#include <chrono>

namespace cloche::mcp {

bool CallQueue::add(std::function<void()> work, size_t bytes) {
  const std::lock_guard held(lock_);
  if (closing_ || waiting_.size() >= limits_.waiting || waiting_bytes_ + bytes > limits_.waiting_bytes)
    return false;
  waiting_.push_back({std::move(work), bytes});
  waiting_bytes_ += bytes;
  if (resting_ < waiting_.size() && threads_.size() < limits_.running) start_thread();
  if (threads_.empty()) {  // the host gives us none: nobody would ever begin it
    waiting_.pop_back();
    waiting_bytes_ -= bytes;
    return false;
  }
  something_.notify_one();
  return true;
}

// Not std::thread, which throws where the host is out of threads: those that are there go on.
void CallQueue::start_thread() {
  const auto begin = [](void* queue) -> void* {
    static_cast<CallQueue*>(queue)->run();
    return nullptr;
  };
  pthread_t thread{};
  if (::pthread_create(&thread, nullptr, begin, this) == 0) threads_.push_back(thread);
}

bool CallQueue::wait_until_idle(unsigned most_ms) {
  std::unique_lock held(lock_);
  return idle_.wait_for(held, std::chrono::milliseconds(most_ms),
                        [&] { return waiting_.empty() && running_ == 0; });
}

void CallQueue::stop_beginning() {
  const std::lock_guard held(lock_);
  closing_ = true;
  waiting_.clear();
  something_.notify_all();
}

void CallQueue::close() {
  stop_beginning();
  for (const pthread_t thread : threads_) ::pthread_join(thread, nullptr);
  threads_.clear();
}

void CallQueue::run() {
  std::unique_lock held(lock_);
  while (true) {
    ++resting_;
    something_.wait(held, [&] { return closing_ || !waiting_.empty(); });
    --resting_;
    if (closing_) return;
    held.unlock();
    before_each_();
    held.lock();
    if (waiting_.empty()) continue;  // another thread was quicker
    const Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_bytes_ -= next.bytes;
    ++running_;
    held.unlock();
    next.work();
    held.lock();
    --running_;
    if (waiting_.empty() && running_ == 0) idle_.notify_all();
  }
}

}  // namespace cloche::mcp
