// Attacks through the network and through sockets: only unix, TCP, UDP and the route netlink are of use to an
// honest program, and nothing of the host's answers.
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "escape/attack.hpp"

namespace cloche::escape {
namespace {

constexpr int newest_family = 46;
constexpr int all_types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_RDM, SOCK_SEQPACKET, 6 /* DCCP */, 10};

bool is_everyday_family(int family) {
  return family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_NETLINK;
}

std::string socket_words(int family, int type, int protocol) {
  return "family " + std::to_string(family) + " type " + std::to_string(type) + " protocol " +
         std::to_string(protocol);
}

Report open_socket(int family, int type, int protocol) {
  const int fd = socket(family, type | SOCK_CLOEXEC, protocol);
  if (fd < 0) return held_by_errno(socket_words(family, type, protocol));
  close(fd);
  return escaped("opened a socket of " + socket_words(family, type, protocol));
}

// All families at once: says every one that opened, so that one leak does not hide another.
Report open_every_family(const Arguments&) {
  std::string opened;
  for (int family = 0; family <= newest_family; ++family) {
    if (is_everyday_family(family)) continue;
    for (const int type : all_types) {
      const int fd = socket(family, type | SOCK_CLOEXEC, 0);
      if (fd < 0) continue;
      close(fd);
      opened += " " + std::to_string(family) + "/" + std::to_string(type);
    }
  }
  if (!opened.empty()) return escaped("opened family/type" + opened);
  return held_by_errno("socket");
}

Report open_every_internet_protocol(const Arguments&) {
  std::string opened;
  for (const int family : {AF_INET, AF_INET6}) {
    for (const int type : all_types) {
      // ICMP, IGMP, EGP, DCCP, RSVP, GRE, ESP, ICMPv6, OSPF, SCTP, UDP-Lite, L2TP, raw, MPTCP, and the plain
      // two
      for (const int protocol : {0, 1, 2, 6, 8, 17, 33, 46, 47, 50, 58, 89, 115, 132, 136, 255, 262}) {
        if (type == SOCK_STREAM && (protocol == 0 || protocol == IPPROTO_TCP)) continue;
        if (type == SOCK_DGRAM && (protocol == 0 || protocol == IPPROTO_UDP)) continue;
        const int fd = socket(family, type | SOCK_CLOEXEC, protocol);
        if (fd < 0) continue;
        close(fd);
        opened += " " + std::to_string(family) + "/" + std::to_string(type) + "/" + std::to_string(protocol);
      }
    }
  }
  if (opened.size() > 200) opened = opened.substr(0, 200) + " ...";
  if (!opened.empty()) return escaped("opened family/type/protocol" + opened);
  return held_by_errno("socket");
}

Report open_every_netlink(const Arguments&) {
  std::string opened;
  for (int protocol = 1; protocol < 32; ++protocol) {
    const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
    if (fd < 0) continue;
    close(fd);
    opened += " " + std::to_string(protocol);
  }
  if (!opened.empty()) return escaped("opened netlink protocols" + opened);
  return held_by_errno("socket netlink");
}

Report open_family(const Arguments& args) {
  return open_socket(atoi(args.at(0).c_str()), atoi(args.at(1).c_str()), atoi(args.at(2).c_str()));
}

// The kernel takes the low half of each register as an int. A filter that compares the whole of it is blind.
Report open_family_with_high_bits(const Arguments& args) {
  const uint64_t high = uint64_t{1} << 32;
  const uint64_t family = static_cast<uint64_t>(atoi(args.at(0).c_str()));
  const uint64_t type = static_cast<uint64_t>(atoi(args.at(1).c_str()));
  for (const auto& [f, t] : {std::pair{family | high, type}, std::pair{family, type | high}}) {
    if (syscall(SYS_socket, f, t, 0) >= 0)
      return escaped("opened a socket by hiding its family in high bits");
  }
  return held_by_errno("socket with high bits");
}

Report reach(int fd, const sockaddr* address, socklen_t size) {
  if (fd < 0) return held_by_errno("socket");
  const timeval patience = {1, 0};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (connect(fd, address, size) != 0) return held_by_errno("connect");
  if (send(fd, "tampered", 8, MSG_NOSIGNAL) != 8) return held_by_errno("send");
  return escaped("connected and sent");
}

Report reach_loopback(const Arguments& args, int family, int type) {
  const auto port = htons(static_cast<uint16_t>(atoi(args.at(0).c_str())));
  const int fd = socket(family, type, 0);
  if (family == AF_INET) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = port;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return reach(fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
  }
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = port;
  address.sin6_addr = in6addr_loopback;
  return reach(fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
}

Report reach_tcp(const Arguments& args) { return reach_loopback(args, AF_INET, SOCK_STREAM); }
Report reach_tcp6(const Arguments& args) { return reach_loopback(args, AF_INET6, SOCK_STREAM); }

// UDP to nobody is no error; only the observer knows whether it arrived, so this one leaves it to them.
Report reach_udp(const Arguments& args) {
  const Report sent = reach_loopback(args, AF_INET, SOCK_DGRAM);
  return sent.ending == Ending::escaped ? planted("a datagram was sent") : sent;
}

Report reach_unix(const std::string& path, bool abstract) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() + 1 > sizeof address.sun_path) return unable("the path is too long");
  memcpy(address.sun_path + (abstract ? 1 : 0), path.data(), path.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  Report last = held("");
  for (const int type : {SOCK_STREAM, SOCK_DGRAM}) {
    const int fd = socket(AF_UNIX, type, 0);
    last = reach(fd, reinterpret_cast<sockaddr*>(&address), size);
    if (last.ending == Ending::escaped) return last;
  }
  return last;
}

Report reach_unix_path(const Arguments& args) { return reach_unix(args.at(0), false); }
Report reach_unix_abstract(const Arguments& args) { return reach_unix(args.at(0), true); }

Report reach_unix_by_symlink(const Arguments& args) {
  if (symlink(args.at(0).c_str(), "planted-socket") != 0) return unable_by_errno("symlink");
  return reach_unix("planted-socket", false);
}

// A back door: somebody on the host calls in.
Report open_back_door(const Arguments& args) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(atoi(args.at(0).c_str())));
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return held_by_errno("bind");
  if (listen(fd, 1) != 0) return held_by_errno("listen");
  pollfd ready = {fd, POLLIN, 0};
  if (poll(&ready, 1, 700) == 1) return escaped("somebody on the host called in");
  return held("nobody could call in");
}

Report see_interfaces(const Arguments&) {
  struct if_nameindex* interfaces = if_nameindex();
  if (interfaces == nullptr) return held_by_errno("if_nameindex");
  for (const auto* one = interfaces; one->if_index != 0; ++one) {
    if (strcmp(one->if_name, "lo") != 0) return escaped(std::string("there is an interface ") + one->if_name);
  }
  return held("only lo");
}

// Connecting a UDP socket sends nothing, but succeeds only where there is a route.
Report find_route_out(const Arguments&) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(53);
  address.sin_addr.s_addr = htonl(0xC6336401);  // 198.51.100.1, which is nobody's
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  if (fd < 0) return held_by_errno("socket");
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0)
    return escaped("a route leads out");
  return held_by_errno("connect");
}

}  // namespace

Attacks socket_attacks() {
  return {
      {"open-every-family", "no socket family but unix, inet, inet6 and netlink opens", open_every_family},
      {"open-every-internet-protocol", "nothing but TCP and UDP opens: no raw, no MPTCP, no SCTP",
       open_every_internet_protocol},
      {"open-every-netlink", "no netlink protocol but the route one opens", open_every_netlink},
      {"open-family", "a socket of this family and type does not open", open_family},
      {"open-family-with-high-bits", "high register bits do not hide a socket family",
       open_family_with_high_bits},
      {"reach-tcp", "no TCP port of the host answers", reach_tcp},
      {"reach-tcp6", "no TCP port of the host answers over IPv6", reach_tcp6},
      {"reach-udp", "no datagram reaches the host", reach_udp},
      {"reach-unix-path", "no unix socket outside the view answers", reach_unix_path},
      {"reach-unix-abstract", "no abstract unix socket of the host answers", reach_unix_abstract},
      {"reach-unix-by-symlink", "a planted link leads to no socket outside", reach_unix_by_symlink},
      {"open-back-door", "nobody on the host can call in", open_back_door},
      {"see-interfaces", "there is no network interface but lo", see_interfaces},
      {"find-route-out", "no route leads out", find_route_out},
  };
}

}  // namespace cloche::escape
