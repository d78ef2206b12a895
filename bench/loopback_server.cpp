#include "loopback_server.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

namespace cloche::bench {
namespace {

constexpr auto patience = std::chrono::seconds(60);

// Up to the end of the line, byte by byte: it is short.
unsigned long long read_count(int fd) {
  std::string digits;
  for (char c = 0; ::recv(fd, &c, 1, 0) == 1 && c != '\n';) digits += c;
  return std::strtoull(digits.c_str(), nullptr, 10);
}

void send_bytes(int fd, unsigned long long count) {
  static const std::vector<char> zeros(size_t{1} << 20);
  while (count > 0) {
    const ssize_t sent =
        ::send(fd, zeros.data(), std::min<unsigned long long>(count, zeros.size()), MSG_NOSIGNAL);
    if (sent <= 0) return;
    count -= static_cast<unsigned long long>(sent);
  }
}

void wait_for_end(int fd) {
  char byte = 0;
  while (::recv(fd, &byte, 1, 0) > 0) {
  }
}

int connect_to(const addrinfo& place) {
  const int fd = ::socket(place.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return ::connect(fd, place.ai_addr, place.ai_addrlen) == 0 ? fd : -1;
}

bool pull(int fd, unsigned long long count) {
  const std::string request = "p" + std::to_string(count) + "\n";
  if (::send(fd, request.data(), request.size(), MSG_NOSIGNAL) < 0) return false;
  std::vector<char> room(size_t{1} << 20);
  while (count > 0) {
    const ssize_t got = ::recv(fd, room.data(), room.size(), 0);
    if (got <= 0) return false;
    count -= static_cast<unsigned long long>(got);
  }
  return true;
}

bool ask(int fd, char what) {
  char byte = 0;
  return ::send(fd, &what, 1, MSG_NOSIGNAL) == 1 && ::recv(fd, &byte, 1, 0) == 1;
}

}  // namespace

Result<std::unique_ptr<LoopbackServer>> LoopbackServer::open() {
  OwnedFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof place;
  auto* address = reinterpret_cast<sockaddr*>(&place);
  const bool good = fd && ::bind(fd.get(), address, size) == 0 && ::listen(fd.get(), 1024) == 0 &&
                    ::getsockname(fd.get(), address, &size) == 0;
  if (!good) return system_error("listen on the loopback");
  return std::unique_ptr<LoopbackServer>(new LoopbackServer(std::move(fd), ntohs(place.sin_port)));
}

LoopbackServer::LoopbackServer(OwnedFd listening, uint16_t port)
    : listening_(std::move(listening)), port_(port), thread_([this] { serve(); }) {}

LoopbackServer::~LoopbackServer() {
  ::shutdown(listening_.get(), SHUT_RDWR);  // accept() returns
  thread_.join();
}

void LoopbackServer::serve() {
  while (true) {
    OwnedFd client(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client) return;
    {
      const std::scoped_lock lock(mutex_);
      if (ended_ == 0) first_ = Clock::now();
    }
    answer(std::move(client));
  }
}

void LoopbackServer::answer(OwnedFd client) {
  const int on = 1;
  ::setsockopt(client.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  char what = 0;
  if (::recv(client.get(), &what, 1, 0) != 1) return;
  if (what == 'p') {
    send_bytes(client.get(), read_count(client.get()));
  } else {
    (void)!::send(client.get(), &what, 1, MSG_NOSIGNAL);
  }
  if (what != 'h') wait_for_end(client.get());
  const std::scoped_lock lock(mutex_);
  if (what == 'h') held_.push_back(std::move(client));
  ++ended_;
  last_ = Clock::now();
  changed_.notify_all();
}

void LoopbackServer::expect(size_t connections) {
  const std::scoped_lock lock(mutex_);
  expected_ = connections;
  ended_ = 0;
}

Result<double> LoopbackServer::took() {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, patience, [&] { return ended_ >= expected_; }))
    return Error{Cause::internal, "the clients of the loopback server did not come", 0, {}};
  return std::chrono::duration<double, std::micro>(last_ - first_).count();
}

Result<void> LoopbackServer::wait_for_held(size_t connections) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, patience, [&] { return held_.size() >= connections; }))
    return Error{Cause::internal, "only " + std::to_string(held_.size()) + " connections are held", 0, {}};
  return {};
}

void LoopbackServer::release() {
  const std::scoped_lock lock(mutex_);
  held_.clear();
}

int be_client(const char* what, const char* host, const char* port, unsigned long long count) {
  addrinfo wish{};
  wish.ai_family = AF_INET;
  wish.ai_socktype = SOCK_STREAM;
  addrinfo* place = nullptr;
  if (::getaddrinfo(host, port, &wish, &place) != 0) return 2;
  if (std::string_view(what) == "pull") {
    const int fd = connect_to(*place);
    return fd >= 0 && pull(fd, count) ? 0 : 1;
  }
  const bool holds = std::string_view(what) == "hold";
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  int fd = -1;
  for (unsigned long long i = 0; i < count; ++i) {
    fd = connect_to(*place);
    if (fd < 0 || !ask(fd, holds ? 'h' : 'e')) return 1;
    if (!holds) ::close(fd);
  }
  if (holds) wait_for_end(fd);
  return 0;
}

}  // namespace cloche::bench
