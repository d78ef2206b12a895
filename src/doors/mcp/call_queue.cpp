#include "doors/mcp/call_queue.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace cloche::mcp {

std::optional<CallQueue::Ticket> CallQueue::add(std::function<void()> work, size_t bytes) {
  const std::lock_guard held(lock_);
  if (closing_ || waiting_.size() >= limits_.waiting || waiting_bytes_ + bytes > limits_.waiting_bytes)
    return std::nullopt;
  waiting_.push_back({next_ticket_, std::move(work), bytes});
  waiting_bytes_ += bytes;
  have_a_thread();
  if (threads_.empty()) {  // the host gives us no thread, so it would never begin
    waiting_.pop_back();
    waiting_bytes_ -= bytes;
    return std::nullopt;
  }
  something_.notify_one();
  return next_ticket_++;
}

bool CallQueue::drop(Ticket ticket) {
  const std::lock_guard held(lock_);
  const auto found = std::ranges::find_if(waiting_, [&](const Waiting& one) { return one.ticket == ticket; });
  if (found == waiting_.end()) return false;
  waiting_bytes_ -= found->bytes;
  waiting_.erase(found);
  if (is_idle()) idle_.notify_all();
  return true;
}

void CallQueue::have_a_thread() {
  if (resting_ < waiting_.size() && threads_.size() < limits_.running + aside_) start_thread();
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
  return idle_.wait_for(held, std::chrono::milliseconds(most_ms), [&] { return is_idle(); });
}

void CallQueue::stop_beginning() {
  const std::lock_guard held(lock_);
  closing_ = true;
  waiting_.clear();
  something_.notify_all();
  place_.notify_all();
}

void CallQueue::close() {
  stop_beginning();
  for (const pthread_t thread : threads_) ::pthread_join(thread, nullptr);
  threads_.clear();
}

bool CallQueue::step_aside() {
  const std::lock_guard held(lock_);
  if (aside_ >= limits_.aside) return false;
  --running_;
  ++aside_;
  have_a_thread();
  something_.notify_one();
  place_.notify_one();
  return true;
}

void CallQueue::come_back() {
  std::unique_lock held(lock_);
  ++returning_;
  place_.wait(held, [&] { return closing_ || running_ < limits_.running; });
  --returning_;
  --aside_;
  ++running_;
}

CallQueue::Waiting CallQueue::take_first() {
  Waiting first = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_bytes_ -= first.bytes;
  return first;
}

void CallQueue::run() {
  std::unique_lock held(lock_);
  while (true) {
    ++resting_;
    something_.wait(held, [&] { return closing_ || may_begin(); });
    --resting_;
    if (closing_) return;
    held.unlock();
    before_each_();
    held.lock();
    if (closing_ || !may_begin()) continue;  // another thread was quicker
    ++running_;
    Waiting next = take_first();
    held.unlock();
    next.work();
    next.work = {};
    held.lock();
    --running_;
    place_.notify_one();
    if (is_idle()) idle_.notify_all();
  }
}

}  // namespace cloche::mcp
