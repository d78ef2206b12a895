#include "egress/proxy/routes.hpp"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace cloche::egress {
namespace {

template <typename Value>
void put(RouteQuestion& question, const Value& value) {
  std::memcpy(question.bytes.data() + question.size, &value, sizeof value);
  question.size += sizeof value;
}

void put_attribute(RouteQuestion& question, uint16_t type, Bytes value) {
  put(question, rtattr{static_cast<uint16_t>(RTA_LENGTH(value.size())), type});
  std::memcpy(question.bytes.data() + question.size, value.data(), value.size());
  question.size += RTA_ALIGN(value.size());
}

template <typename Value>
bool take(Bytes& message, Value& value) {
  if (message.size() < sizeof value) return false;
  std::memcpy(&value, message.data(), sizeof value);
  message = message.subspan(sizeof value);
  return true;
}

Way way_of_type(unsigned type) {
  switch (type) {
    case RTN_UNICAST: return Way::out;
    case RTN_LOCAL: return Way::own;
    case RTN_BROADCAST:
    case RTN_MULTICAST:
    case RTN_ANYCAST: return Way::many;
    case RTN_BLACKHOLE:
    case RTN_UNREACHABLE:
    case RTN_PROHIBIT:
    case RTN_THROW: return Way::none;
    default: return Way::unknown;
  }
}

// Routes that lead nowhere are told as the error that a connect would meet.
Way way_of_error(int number) {
  if (is_no_room(number)) return Way::no_room;
  switch (number) {
    case ENETUNREACH:
    case EHOSTUNREACH:
    case EINVAL:  // blackhole
    case EACCES:  // prohibit
    case ENETDOWN:
    case EADDRNOTAVAIL:
    case EAFNOSUPPORT:  // without IPv6 here
    case EOPNOTSUPP: return Way::none;
    default: return Way::unknown;
  }
}

// An attacker who took this process over could ask the same socket for the host's interfaces, neighbours and
// rules: only what is said of routes is let in, and the lock makes that final.
bool hear_of_routes_alone(int fd) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_H | BPF_ABS, offsetof(nlmsghdr, nlmsg_type)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(RTM_NEWROUTE), 1, 0),  // loaded as if in network order
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(NLMSG_ERROR), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, 0xffff),
      BPF_STMT(BPF_RET | BPF_K, 0),
  };
  const sock_fprog program{std::size(code), code};
  const int on = 1;
  return ::setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0 &&
         ::setsockopt(fd, SOL_SOCKET, SO_LOCK_FILTER, &on, sizeof on) == 0;
}

}  // namespace

std::string_view why_refused(Way way) {
  switch (way) {
    case Way::own: return ", which is this host's own";
    case Way::many: return ", which is not the address of one host";
    case Way::unknown: return ", and the kernel does not say where that leads";
    case Way::out:
    case Way::none:
    case Way::no_room: break;
  }
  return {};
}

bool is_no_room(int number) {
  return number == EMFILE || number == ENFILE || number == ENOBUFS || number == ENOMEM;
}

// With the port, because rules of the host's routing may go by it.
RouteQuestion write_route_question(const IpAddress& address, uint16_t port, uint32_t sequence) {
  const Bytes bytes = address.view();
  const uint8_t protocol = IPPROTO_TCP;
  const std::array<uint8_t, 2> port_bytes = {static_cast<uint8_t>(port >> 8), static_cast<uint8_t>(port)};
  RouteQuestion question;
  put(question, nlmsghdr{});
  rtmsg route{};
  route.rtm_family = address.family == IpAddress::Family::v4 ? AF_INET : AF_INET6;
  route.rtm_dst_len = static_cast<uint8_t>(8 * bytes.size());
  put(question, route);
  put_attribute(question, RTA_DST, bytes);
  put_attribute(question, RTA_IP_PROTO, {&protocol, 1});
  put_attribute(question, RTA_DPORT, port_bytes);
  nlmsghdr head{};
  head.nlmsg_len = static_cast<uint32_t>(question.size);
  head.nlmsg_type = RTM_GETROUTE;
  head.nlmsg_flags = NLM_F_REQUEST;
  head.nlmsg_seq = sequence;
  std::memcpy(question.bytes.data(), &head, sizeof head);
  return question;
}

std::optional<Way> read_route_answer(Bytes message, uint32_t sequence) {
  nlmsghdr head{};
  if (!take(message, head)) return Way::unknown;
  if (head.nlmsg_seq != sequence) return {};
  int problem = 0;
  if (head.nlmsg_type == NLMSG_ERROR) return take(message, problem) ? way_of_error(-problem) : Way::unknown;
  rtmsg route{};
  if (head.nlmsg_type != RTM_NEWROUTE || !take(message, route)) return Way::unknown;
  return way_of_type(route.rtm_type);
}

// To the kernel: no other process can say anything to it.
OwnedFd route_socket() {
  OwnedFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  const auto* place = reinterpret_cast<const sockaddr*>(&kernel);
  if (!fd || ::connect(fd.get(), place, sizeof kernel) != 0 || !hear_of_routes_alone(fd.get())) return {};
  return fd;
}

// The kernel answers before the question is sent: nothing is waited for.
Way Routes::way_to(const IpAddress& address, uint16_t port) {
  const RouteQuestion question = write_route_question(address, port, ++sequence_);
  if (::send(fd_.get(), question.bytes.data(), question.size, MSG_NOSIGNAL) < 0)
    return is_no_room(errno) ? Way::no_room : Way::unknown;
  std::array<uint8_t, most_route_answer> room;
  while (true) {
    const ssize_t got = ::recv(fd_.get(), room.data(), room.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return is_no_room(errno) ? Way::no_room : Way::unknown;
    if (const auto way = read_route_answer({room.data(), static_cast<size_t>(got)}, sequence_)) return *way;
  }
}

}  // namespace cloche::egress
