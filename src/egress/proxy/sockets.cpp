#include "egress/proxy/sockets.hpp"

#include <linux/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace cloche::egress {
namespace {

int family_of(const IpAddress& address) {
  return address.family == IpAddress::Family::v4 ? AF_INET : AF_INET6;
}

OwnedFd socket_for(const IpAddress& address, int type) {
  return OwnedFd(::socket(family_of(address), type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

void set(int fd, int level, int option, int value) {
  (void)::setsockopt(fd, level, option, &value, sizeof value);
}

IpAddress address_in(const sockaddr_in6& place) {
  if (place.sin6_family == AF_INET6) {
    IpAddress address{.family = IpAddress::Family::v6};
    std::memcpy(address.bytes.data(), &place.sin6_addr, 16);
    return address;
  }
  sockaddr_in old{};
  std::memcpy(&old, &place, sizeof old);
  IpAddress address;
  std::memcpy(address.bytes.data(), &old.sin_addr, 4);
  return address;
}

}  // namespace

SocketPlace place_of(const IpAddress& address, uint16_t port, uint32_t zone) {
  SocketPlace place;
  if (address.family == IpAddress::Family::v6) {
    place.room.sin6_family = AF_INET6;
    place.room.sin6_port = htons(port);
    place.room.sin6_scope_id = zone;
    std::memcpy(&place.room.sin6_addr, address.bytes.data(), 16);
    place.size = sizeof(sockaddr_in6);
    return place;
  }
  sockaddr_in old{};
  old.sin_family = AF_INET;
  old.sin_port = htons(port);
  std::memcpy(&old.sin_addr, address.bytes.data(), 4);
  std::memcpy(&place.room, &old, sizeof old);
  place.size = sizeof old;
  return place;
}

OwnedFd stream_to(const IpAddress& address) { return socket_for(address, SOCK_STREAM); }

OwnedFd datagrams_to(const IpAddress& address, const SocketPlace& place) {
  OwnedFd fd = socket_for(address, SOCK_DGRAM);
  if (!fd || ::connect(fd.get(), place.address(), place.size) != 0) return {};
  return fd;
}

bool endpoint_of(int fd, Endpoint& endpoint) {
  sockaddr_in6 place{};
  socklen_t size = sizeof place;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&place), &size) != 0) return false;
  const IpAddress address = address_in(place);
  endpoint.port = ntohs(place.sin6_port);  // at the same place in both families
  if (address.family == IpAddress::Family::v6) {
    endpoint.address = address.bytes;
  } else {
    endpoint.address = {};
    endpoint.address[10] = endpoint.address[11] = 0xff;
    std::memcpy(&endpoint.address[12], address.bytes.data(), 4);
  }
  return true;
}

Delivery delivery_of(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {};
  // The first that is acknowledged is the greeting, which carries no byte.
  const uint64_t acknowledged = info.tcpi_bytes_acked > 0 ? info.tcpi_bytes_acked - 1 : 0;
  return {info.tcpi_unacked == 0 && info.tcpi_notsent_bytes == 0, acknowledged};
}

bool has_ended(int fd) {
  char byte = 0;
  const ssize_t got = ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

Buffers buffers_for(size_t open) {
  constexpr int few = 16;
  constexpr int all_unsent = 4 << 20;
  constexpr int all_received = 16 << 20;
  constexpr int usual_unsent = 256 << 10;
  const int count = static_cast<int>(std::clamp<size_t>(open, 1, 1 << 20));
  if (count <= few) return {.unsent = std::max(all_unsent / count, usual_unsent)};
  const int share = std::max(all_received / count, 32 << 10);
  return {.unsent = std::min(share, usual_unsent), .received = share};
}

void make_relayed(int fd, const Buffers& buffers) {
  set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, buffers.unsent);
  if (buffers.received != 0) set(fd, SOL_SOCKET, SO_RCVBUF, buffers.received);
  const linger at_once{1, 0};
  (void)::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

void end_orderly(OwnedFd& fd) {
  const linger no{0, 0};
  if (fd) (void)::setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &no, sizeof no);
  fd.reset();
}

void end_abruptly(OwnedFd& fd) {
  const linger at_once{1, 0};
  if (fd) (void)::setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  fd.reset();
}

}  // namespace cloche::egress
