#include "egress/servers.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>

namespace cloche::test {
namespace {

constexpr std::string_view banner_text = "220 ready\r\n";

void watch(int epoll, int fd, uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

// Everything, if the other side takes it: echoes are small.
void say(int fd, std::string_view text) { (void)!send(fd, text.data(), text.size(), MSG_NOSIGNAL); }

}  // namespace

TcpServer::TcpServer(int listening, Manner manner)
    : listening_(listening), manner_(manner), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  if (pipe2(end_, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
  watch(epoll_, listening_, EPOLLIN);
  watch(epoll_, end_[0], EPOLLIN);
  thread_ = std::thread([this] { serve(); });
}

TcpServer::~TcpServer() {
  close(end_[1]);
  thread_.join();
  for (const auto& [fd, guest] : guests_) close(fd);
  for (const int fd : {listening_, end_[0], epoll_}) close(fd);
}

std::vector<std::string> TcpServer::recorded() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> all = recorded_;
  for (const auto& [fd, guest] : guests_) all.push_back(guest.heard);
  return all;
}

size_t TcpServer::open_since(size_t before) const {
  const std::scoped_lock lock(mutex_);
  return static_cast<size_t>(std::count_if(guests_.begin(), guests_.end(),
                                           [&](const auto& row) { return row.second.number >= before; }));
}

void TcpServer::greet() {
  const int fd = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  {
    const std::scoped_lock lock(mutex_);
    guests_[fd] = {.number = accepted_};
  }
  ++accepted_;
  if (manner_ == Manner::banner) say(fd, banner_text);
  if (manner_ == Manner::source) return watch(epoll_, fd, EPOLLOUT);
  watch(epoll_, fd, manner_ == Manner::deaf ? EPOLLRDHUP : EPOLLIN);
}

bool TcpServer::hear(int fd) {
  char room[65536];
  const ssize_t got = recv(fd, room, sizeof room, 0);
  if (got < 0 && errno == EAGAIN) return true;
  if (got <= 0) return false;
  const std::string_view text(room, static_cast<size_t>(got));
  const bool keeps = manner_ == Manner::record || manner_ == Manner::listen;
  if (!keeps) {
    say(fd, text);
    return true;
  }
  const std::scoped_lock lock(mutex_);
  Guest& guest = guests_[fd];
  if (guest.heard.empty() && manner_ == Manner::record) say(fd, "seen");
  guest.heard += text;
  return true;
}

bool TcpServer::answer(int fd) {
  if (manner_ == Manner::deaf) return false;  // it was told that the other side ended
  if (manner_ != Manner::source) return hear(fd);
  static const std::string zeros(size_t{256} << 10, '\0');
  return send(fd, zeros.data(), zeros.size(), MSG_NOSIGNAL) > 0 || errno == EAGAIN;
}

void TcpServer::drop(int fd) {
  {
    const std::scoped_lock lock(mutex_);
    Guest& guest = guests_[fd];
    if (!guest.heard.empty()) recorded_.push_back(std::move(guest.heard));
    guests_.erase(fd);
  }
  close(fd);
}

void TcpServer::serve() {
  while (true) {
    epoll_event events[64];
    const int count = epoll_wait(epoll_, events, 64, -1);
    for (int i = 0; i < count; ++i) {
      const int fd = events[i].data.fd;
      if (fd == end_[0]) return;
      if (fd == listening_) {
        greet();
      } else if (!answer(fd)) {
        drop(fd);
      }
    }
  }
}

Listening listen_on_loopback() {
  Listening out{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), 0};
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof place;
  auto* address = reinterpret_cast<sockaddr*>(&place);
  const bool good = bind(out.fd, address, size) == 0 && listen(out.fd, 1024) == 0 &&
                    getsockname(out.fd, address, &size) == 0;
  if (!good) throw std::runtime_error("listen on the loopback");
  out.port = ntohs(place.sin_port);
  return out;
}

}  // namespace cloche::test
