// Owned descriptors. A plain `int fd` parameter is borrowed for the call; OwnedFd owns. close() is called
// in fd.cpp and nowhere else.
#pragma once

#include <utility>

#include "base/result.hpp"

namespace cloche {

class OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int fd) : fd_(fd) {}
  OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept;
  OwnedFd(const OwnedFd&) = delete;
  OwnedFd& operator=(const OwnedFd&) = delete;
  ~OwnedFd() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  explicit operator bool() const { return valid(); }
  int release() { return std::exchange(fd_, -1); }
  void reset();

 private:
  int fd_ = -1;
};

struct Pipe {
  OwnedFd read;
  OwnedFd write;
};

}  // namespace cloche
