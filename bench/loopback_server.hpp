// A server on this host's loopback that the benchmark talks to, directly and through the gate, and that says
// how long it took: the clock is on this side, so that starting a client is no part of it.
//
// One thread, one connection after the other. Its first byte says what a client wants: 'p' and a number in
// text up to '\n': so many bytes; 'e': an echo; 'h': an echo, and then nothing until release().
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"

namespace cloche::bench {

class LoopbackServer {
 public:
  static Result<std::unique_ptr<LoopbackServer>> open();
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  uint16_t port() const { return port_; }
  // From now on so many connections are waited for.
  void expect(size_t connections);
  // Microseconds from the first of them that came to the last that ended; none: they did not come.
  Result<double> took();
  Result<void> wait_for_held(size_t connections);
  void release();

 private:
  LoopbackServer(OwnedFd listening, uint16_t port);
  void serve();
  void answer(OwnedFd client);

  using Clock = std::chrono::steady_clock;
  OwnedFd listening_;
  uint16_t port_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t expected_ = 0;
  size_t ended_ = 0;
  Clock::time_point first_;
  Clock::time_point last_;
  std::vector<OwnedFd> held_;
  std::thread thread_;
};

// The other side, which the benchmark starts itself as: what to do, at which host and port, how many bytes or
// connections. The exit code.
int be_client(const char* what, const char* host, const char* port, unsigned long long count);

}  // namespace cloche::bench
