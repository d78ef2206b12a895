#include "tools/web_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace cloche::test {
namespace {

constexpr int longest_wait_ms = 5000;

bool is_ready(int fd, short events) {
  pollfd event{fd, events, 0};
  return ::poll(&event, 1, longest_wait_ms) == 1;
}

std::string read_head(int connection) {
  std::string head;
  char bytes[4096];
  while (head.find("\r\n\r\n") == std::string::npos && is_ready(connection, POLLIN)) {
    const ssize_t count = ::read(connection, bytes, sizeof bytes);
    if (count <= 0) break;
    head.append(bytes, static_cast<size_t>(count));
  }
  return head;
}

// Who has enough hangs up in the middle.
void write_all(int connection, std::string_view text) {
  while (!text.empty() && is_ready(connection, POLLOUT)) {
    const ssize_t count = ::send(connection, text.data(), text.size(), MSG_NOSIGNAL);
    if (count <= 0) return;
    text.remove_prefix(static_cast<size_t>(count));
  }
}

std::string path_of(const std::string& head) {
  const size_t begin = head.find(' ');
  if (begin == std::string::npos) return {};
  return head.substr(begin + 1, head.find(' ', begin + 1) - begin - 1);
}

}  // namespace

std::string http_answer(const std::string& body, const std::string& head) {
  return head + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body;
}

WebServer::WebServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* place = reinterpret_cast<sockaddr*>(&address);
  int ends[2];
  if (::bind(listener_.get(), place, size) != 0 || ::listen(listener_.get(), 64) != 0 ||
      ::getsockname(listener_.get(), place, &size) != 0 || ::pipe2(ends, O_CLOEXEC) != 0)
    throw std::runtime_error("no server on the loopback");
  port_ = ntohs(address.sin_port);
  end_[0] = OwnedFd(ends[0]);
  end_[1] = OwnedFd(ends[1]);
  thread_ = std::thread([this] { serve(); });
}

WebServer::~WebServer() {
  end_[1].reset();
  thread_.join();
}

void WebServer::answer(const std::string& path, const std::string& text) {
  const std::lock_guard held(lock_);
  answers_[path] = text;
}

void WebServer::redirect(const std::string& path, const std::string& location, int status) {
  answer(path, http_answer("", "HTTP/1.1 " + std::to_string(status) + " Elsewhere\r\nLocation: " + location));
}

std::vector<std::string> WebServer::requests() {
  const std::lock_guard held(lock_);
  return requests_;
}

void WebServer::serve() {
  while (true) {
    pollfd events[2] = {{listener_.get(), POLLIN, 0}, {end_[0].get(), POLLIN, 0}};
    if (::poll(events, 2, -1) < 0 || events[1].revents != 0) return;
    const OwnedFd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (connection) serve_one(connection.get());
  }
}

void WebServer::serve_one(int connection) {
  const std::string head = read_head(connection);
  std::string text = http_answer("nothing here", "HTTP/1.1 404 Not Found");
  {
    const std::lock_guard held(lock_);
    if (!head.empty()) requests_.push_back(head);
    if (const auto found = answers_.find(path_of(head)); found != answers_.end()) text = found->second;
  }
  if (text != "wait") {
    pollfd other{connection, POLLRDHUP, 0};
    (void)::poll(&other, 1, slow_ms_);
    return write_all(connection, text);
  }
  char byte = 0;
  if (::recv(connection, &byte, 1, 0) > 0) return;  // until the other side has had enough
}

}  // namespace cloche::test
