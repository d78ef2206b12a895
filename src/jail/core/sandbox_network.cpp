#include "jail/core/sandbox_network.hpp"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/sys/inside_range.hpp"
#include "jail/core/report.hpp"

namespace cloche::jail {
namespace {

using wire::Step;

constexpr int loopback_index = 1;  // the first device of every network namespace
constexpr int backlog = 512;

// "local RANGE dev lo": every address of it is the namespace's own, so that any of them can be bound and
// connected to, and nothing is ever sent anywhere.
bool route_to_loopback(int netlink, int family, const uint8_t* address, uint8_t bits) {
  const size_t length = family == AF_INET ? 4 : 16;
  struct {
    nlmsghdr header;
    rtmsg route;
    char attributes[64];
  } request{};
  char* at = request.attributes;
  const auto add = [&at](uint16_t type, const void* value, size_t size) {
    rtattr attribute{static_cast<uint16_t>(RTA_LENGTH(size)), type};
    std::memcpy(at, &attribute, sizeof attribute);
    std::memcpy(at + RTA_LENGTH(0), value, size);
    at += RTA_SPACE(size);
  };
  add(RTA_DST, address, length);
  add(RTA_OIF, &loopback_index, sizeof loopback_index);
  request.header.nlmsg_len = static_cast<uint32_t>(at - reinterpret_cast<char*>(&request));
  request.header.nlmsg_type = RTM_NEWROUTE;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_ACK;
  request.route.rtm_family = static_cast<uint8_t>(family);
  request.route.rtm_dst_len = bits;
  request.route.rtm_table = RT_TABLE_LOCAL;
  request.route.rtm_protocol = RTPROT_STATIC;
  request.route.rtm_scope = RT_SCOPE_HOST;
  request.route.rtm_type = RTN_LOCAL;
  if (::send(netlink, &request, request.header.nlmsg_len, 0) < 0) return false;
  struct {
    nlmsghdr header;
    nlmsgerr answer;
    char rest[256];
  } reply{};
  const ssize_t got = ::recv(netlink, &reply, sizeof reply, 0);
  if (got < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(nlmsgerr)))) return false;
  if (reply.header.nlmsg_type != NLMSG_ERROR || reply.answer.error != 0) {
    errno = reply.answer.error != 0 ? -reply.answer.error : EPROTO;
    return false;
  }
  return true;
}

bool is_any(const wire::Listener& listener) {
  for (const uint8_t byte : listener.address) {
    if (byte != 0) return false;
  }
  return true;
}

bool is_loopback4(const wire::Listener& listener) {
  constexpr uint8_t mapped[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};
  return std::memcmp(listener.address.data(), mapped, sizeof mapped) == 0;
}

bool is_mapped4(const wire::Listener& listener) {
  for (size_t i = 0; i < 10; ++i) {
    if (listener.address[i] != 0) return false;
  }
  return listener.address[10] == 0xff && listener.address[11] == 0xff;
}

int bound4(const wire::Listener& listener, int type) {
  const int fd = ::socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return fd;
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = __builtin_bswap16(static_cast<uint16_t>(listener.port));
  std::memcpy(&place.sin_addr, &listener.address[12], 4);  // of all zeros: any
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&place), sizeof place) < 0) return -1;
  return fd;
}

// Both families on one socket where the address is any.
int bound6(const wire::Listener& listener, int type) {
  const int fd = ::socket(AF_INET6, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return fd;
  const int alone = is_any(listener) ? 0 : 1;
  if (::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &alone, sizeof alone) < 0) return -1;
  // An address that is local by a route alone: IPv4 binds it as it is, IPv6 wants to be told.
  const int unassigned = 1;
  if (::setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &unassigned, sizeof unassigned) < 0) return -1;
  sockaddr_in6 place{};
  place.sin6_family = AF_INET6;
  place.sin6_port = __builtin_bswap16(static_cast<uint16_t>(listener.port));
  std::memcpy(&place.sin6_addr, listener.address.data(), listener.address.size());
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&place), sizeof place) < 0) return -1;
  return fd;
}

// To be connected from outside. Where there is no IPv6 a second one of IPv4 stands in, and connects to
// nothing.
int open_connector(const wire::Listener& listener, uint32_t index) {
  constexpr int type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
  const int fd = is_mapped4(listener) ? -1 : ::socket(AF_INET6, type, 0);
  return fd >= 0 ? fd : must(::socket(AF_INET, type, 0), Step::open_listeners, index);
}

int open_listener(const wire::Listener& listener, bool has6, uint32_t index) {
  if (listener.port == 0) return open_connector(listener, index);
  const int type = listener.stream != 0 ? SOCK_STREAM : SOCK_DGRAM;
  const bool only4 = is_mapped4(listener) || (is_any(listener) && !has6);
  if (!only4 && !has6) return must(::socket(AF_INET, type | SOCK_CLOEXEC, 0), Step::open_listeners, index);
  const int fd = must(only4 ? bound4(listener, type) : bound6(listener, type), Step::open_listeners, index);
  if (listener.stream != 0) must(::listen(fd, backlog), Step::open_listeners, index);
  return fd;
}

// What stands for declared hosts has addresses of the inside ranges; a resolver that knows none does not.
bool needs_ranges(const wire::Plan& plan) {
  for (const auto& listener : plan.listeners) {
    if (listener.port != 0 && !is_loopback4(listener)) return true;
  }
  return false;
}

// Whether there is IPv6.
bool route_ranges() {
  const int netlink =
      must(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), Step::open_listeners);
  const uint32_t range4 = __builtin_bswap32(inside_range4);
  if (!route_to_loopback(netlink, AF_INET, reinterpret_cast<const uint8_t*>(&range4), inside_range4_bits))
    fail(Step::open_listeners, errno);
  uint8_t range6[16] = {};
  std::memcpy(range6, inside_range6, sizeof inside_range6);
  const bool has6 = route_to_loopback(netlink, AF_INET6, range6, inside_range6_bits);
  ::close(netlink);
  return has6;
}

}  // namespace

void raise_loopback() {
  const int fd = must(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), Step::loopback);
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  must(::ioctl(fd, SIOCSIFFLAGS, &request), Step::loopback);
  ::close(fd);
}

void open_listeners(const wire::Plan& plan) {
  const bool has6 = needs_ranges(plan) && route_ranges();
  int fds[wire::max_listeners];
  for (uint32_t i = 0; i < plan.listeners.size(); ++i) fds[i] = open_listener(plan.listeners[i], has6, i);
  const std::span<const int> opened(fds, plan.listeners.size());
  send_with({.kind = wire::ReportKind::listeners, .index = has6 ? 1U : 0U}, opened);
  for (const int fd : opened) ::close(fd);
}

}  // namespace cloche::jail
