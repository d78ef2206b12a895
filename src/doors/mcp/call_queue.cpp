#include "doors/mcp/call_queue.hpp"

#include <chrono>
#include <utility>

namespace cloche::mcp {

namespace {

// A server has one client, and its calls are of one tenant.
const std::string tenant = {};

}  // namespace

std::optional<CallQueue::Ticket> CallQueue::add(std::function<void()> work, size_t bytes) {
  const std::lock_guard held(lock_);
  const auto ticket = closing_ ? std::nullopt : queue_.add(tenant, bytes);
  if (!ticket) return std::nullopt;
  waiting_.emplace(*ticket, std::move(work));
  have_a_thread();
  if (threads_.empty()) {  // the host gives us no thread, so it would never begin
    queue_.drop(*ticket);
    waiting_.erase(*ticket);
    return std::nullopt;
  }
  something_.notify_one();
  return ticket;
}

bool CallQueue::drop(Ticket ticket) {
  const std::lock_guard held(lock_);
  if (!queue_.drop(ticket)) return false;
  waiting_.erase(ticket);
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
  queue_.drop_all();
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
  if (aside_ >= most_aside_) return false;
  queue_.step_aside(tenant);
  ++aside_;
  have_a_thread();
  something_.notify_one();
  place_.notify_one();
  return true;
}

void CallQueue::come_back() {
  std::unique_lock held(lock_);
  queue_.want_back();
  place_.wait(held, [&] { return closing_ || queue_.may_come_back(); });
  queue_.come_back(tenant);
  --aside_;
}

void CallQueue::run() {
  std::unique_lock held(lock_);
  while (true) {
    ++resting_;
    something_.wait(held, [&] { return closing_ || queue_.may_begin(); });
    --resting_;
    if (closing_) return;
    held.unlock();
    before_each_();
    held.lock();
    if (closing_) continue;
    const auto begun = queue_.begin();
    if (!begun) continue;  // another thread was quicker
    auto next = waiting_.extract(begun->ticket);
    held.unlock();
    next.mapped()();
    next.mapped() = {};
    held.lock();
    queue_.end(begun->tenant);
    place_.notify_one();
    if (is_idle()) idle_.notify_all();
  }
}

}  // namespace cloche::mcp
