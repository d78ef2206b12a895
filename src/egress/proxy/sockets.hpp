// Addresses as the kernel takes them, and the few things that are done with a socket here.
#pragma once

#include <netinet/in.h>

#include <cstdint>

#include "base/sys/fd.hpp"
#include "model/network.hpp"
#include "policy/hosts/ip_address.hpp"

namespace cloche::egress {

struct SocketPlace {
  sockaddr_in6 room = {};  // large enough for both families
  socklen_t size = 0;

  const sockaddr* address() const { return reinterpret_cast<const sockaddr*>(&room); }
};
// `zone` is the number of an interface, for an address that means something only there.
SocketPlace place_of(const IpAddress& address, uint16_t port, uint32_t zone = 0);

// Non-blocking, and closed on exec.
OwnedFd stream_to(const IpAddress& address);
OwnedFd datagrams_to(const IpAddress& address, const SocketPlace& place);  // connected: hears this one alone

// Where an accepted connection was made to: the listener's address and port as the client said them.
struct Endpoint {
  NetAddress address = {};
  uint16_t port = 0;
};
bool endpoint_of(int fd, Endpoint& endpoint);

// What was given to the kernel for the other side, and how much of it that side has said it has.
struct Delivery {
  bool complete = true;  // also when no process is left that could say it
  uint64_t acknowledged = 0;
};
Delivery delivery_of(int fd);
bool has_ended(int fd);  // and everything that came before was read

// How many bytes the kernel may keep of one connection, in each direction: none of it counts as the call's
// memory.
struct Buffers {
  int unsent = 0;    // taken from us and not yet on its way
  int received = 0;  // not yet taken by us; 0: what the kernel thinks good

  bool operator==(const Buffers&) const = default;
};

// For one more when so many are open with it. One alone has what a fast network needs, many share. Pure.
Buffers buffers_for(size_t open);

// One that is relayed: small pieces do not wait for each other, buffers have their share, and whatever ends
// this process, the kernel keeps nothing of it and tells the other side that it broke. Before a connect.
void make_relayed(int fd, const Buffers& buffers);
void end_orderly(OwnedFd& fd);   // what was sent is still delivered, and its end is told
void end_abruptly(OwnedFd& fd);  // the other side is told that it broke, not that it ended

}  // namespace cloche::egress
