// TCP servers of the tests' own: one thread each, as many connections as come.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace cloche::test {

enum class Manner {
  echo,
  banner,  // speaks first, then echoes
  record,  // says "seen" when something has come, and keeps everything
  listen,  // says nothing, and keeps everything
  source,  // sends until nobody takes it
  deaf,    // takes nothing, says nothing
};

class TcpServer {
 public:
  TcpServer(int listening, Manner manner);
  ~TcpServer();
  TcpServer(const TcpServer&) = delete;
  TcpServer& operator=(const TcpServer&) = delete;

  // How many connections have come, ever.
  size_t accepted() const { return accepted_; }
  // How many are open of those that came after the first `before`. A host that is busy may lose the reset of
  // an earlier one, and its kernel finds out when it asks the next time, seconds later.
  size_t open_since(size_t before) const;
  // Of a recorder: what came on each connection. After the call has ended everything has come.
  std::vector<std::string> recorded() const;

 private:
  void serve();
  void greet();
  bool answer(int fd);  // false: it is over
  bool hear(int fd);
  void drop(int fd);

  int listening_;
  Manner manner_;
  int end_[2];
  int epoll_;
  std::atomic<size_t> accepted_ = 0;
  struct Guest {
    size_t number = 0;
    std::string heard = {};
  };
  mutable std::mutex mutex_;
  std::map<int, Guest> guests_;  // those that are open
  std::vector<std::string> recorded_;
  std::thread thread_;
};

// Listening on this side's 127.0.0.1, at a port that is free.
struct Listening {
  int fd;
  uint16_t port;
};
Listening listen_on_loopback();

}  // namespace cloche::test
