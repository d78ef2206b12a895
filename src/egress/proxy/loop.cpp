#include "egress/proxy/loop.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>

#include "base/sys/sys.hpp"

namespace cloche::egress {

Loop::Loop() : epoll_(::epoll_create1(EPOLL_CLOEXEC)), now_ms_(sys::monotonic_ms()) {}

bool Loop::watch(int fd, Handler& handler) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = &handler;
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void Loop::unwatch(int fd, Handler& handler) {
  (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  forget(handler);
}

void Loop::forget(Handler& handler) {
  std::erase(again_, &handler);
  std::replace(batch_.begin(), batch_.end(), &handler, static_cast<Handler*>(nullptr));
}

void Loop::turn(int most_ms) {
  std::array<epoll_event, 128> events;
  const int got = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                               again_.empty() ? most_ms : 0);
  now_ms_ = sys::monotonic_ms();
  const size_t count = got > 0 ? static_cast<size_t>(got) : 0;
  batch_.clear();
  for (size_t i = 0; i < count; ++i) batch_.push_back(static_cast<Handler*>(events[i].data.ptr));
  for (Handler* handler : again_) {
    if (std::find(batch_.begin(), batch_.end(), handler) == batch_.end()) batch_.push_back(handler);
  }
  again_.clear();
  for (size_t i = 0; i < batch_.size(); ++i) {
    Handler* handler = batch_[i];
    if (handler != nullptr) handler->ready(i < count ? events[i].events : 0);
  }
  batch_.clear();
  dead_.clear();
}

}  // namespace cloche::egress
