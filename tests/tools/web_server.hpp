// A web server on the host's loopback, in this process: what it answers to each path is a text of the test's.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/sys/fd.hpp"

namespace cloche::test {

class WebServer {
 public:
  // By path; everything else is a 404. "wait" is no answer, until the other side hangs up.
  using Answers = std::map<std::string, std::string>;
  WebServer();
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;
  ~WebServer();

  void answer(const std::string& path, const std::string& text);
  // From now on every answer takes so long.
  void be_slow(int ms) { slow_ms_ = ms; }
  void redirect(const std::string& path, const std::string& location, int status = 302);

  int port() const { return port_; }
  std::string host() const { return "localhost:" + std::to_string(port_); }
  std::string url(const std::string& path) const { return "http://" + host() + path; }
  // The requests so far, each to the end of its head.
  std::vector<std::string> requests();

 private:
  void serve();
  void serve_one(int connection);

  OwnedFd listener_;
  OwnedFd end_[2];
  int port_ = 0;
  std::atomic<int> slow_ms_ = 0;
  std::mutex lock_;
  Answers answers_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

std::string http_answer(const std::string& body, const std::string& head = "HTTP/1.1 200 OK");

}  // namespace cloche::test
