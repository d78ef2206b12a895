// One thread, many sockets: who waits for what, and what time it is.
//
// Sockets are registered once, edge-triggered: code that is told that something is ready goes on until the
// kernel says EAGAIN, or asks to be called again when the others have had their turn.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/sys/fd.hpp"

namespace cloche::egress {

class Handler {
 public:
  Handler() = default;
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;
  virtual ~Handler() = default;
  virtual void ready(uint32_t events) = 0;  // of epoll; 0: it asked to be called again
};

// What ends later than it is told to: an event for it may still be in the batch that is being handled.
class Mortal {
 public:
  virtual ~Mortal() = default;
};

class Loop {
 public:
  Loop();
  bool works() const { return static_cast<bool>(epoll_); }

  // The descriptor leaves when it is closed.
  bool watch(int fd, Handler& handler);
  // And before it is, where it is to be used for something else.
  void unwatch(int fd, Handler& handler);
  void again(Handler& handler) { again_.push_back(&handler); }
  void forget(Handler& handler);  // it asks for nothing any more
  void bury(std::unique_ptr<Mortal> dead) { dead_.push_back(std::move(dead)); }

  uint64_t now_ms() const { return now_ms_; }
  // One batch of events; at most `most_ms` are waited for the first of them.
  void turn(int most_ms);

 private:
  OwnedFd epoll_;
  uint64_t now_ms_ = 0;
  std::vector<Handler*> again_;
  std::vector<Handler*> batch_;  // those of this batch that are still to be told
  std::vector<std::unique_ptr<Mortal>> dead_;
};

}  // namespace cloche::egress
