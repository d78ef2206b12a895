#include "egress/published_listeners.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>

namespace cloche {
namespace {

constexpr int backlog = 64;

Error not_listening(const PublishedPort& port, int number) {
  const std::string wanted = "127.0.0.1:" + std::to_string(port.host) + " of the host, which --publish " +
                             to_text(port) + " asks for, ";
  const std::string fix = "choose another port, as --publish HOST_PORT:" + std::to_string(port.inside);
  if (number == EADDRINUSE) return refusal(wanted + "is in use by another program", fix);
  if (number == EACCES) return refusal(wanted + "is only for root to listen at", fix);
  return system_error("listen at 127.0.0.1:" + std::to_string(port.host), number);
}

}  // namespace

Result<std::vector<OwnedFd>> listen_at(const std::vector<PublishedPort>& ports) {
  std::vector<OwnedFd> listeners;
  for (const auto& port : ports) {
    OwnedFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(port.host);
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // What a call before this one has left in TIME_WAIT takes nothing away.
    const bool listens = fd && ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                         ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0 &&
                         ::listen(fd.get(), backlog) == 0;
    if (!listens) return not_listening(port, errno);
    listeners.push_back(std::move(fd));
  }
  return listeners;
}

}  // namespace cloche
