// Where packets to an address would go, as the kernel says it: the one who knows which addresses are this
// host's own. A second address of an interface and a whole range that was made local (`ip route add local`)
// look like any other host's from every other side.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/sys/fd.hpp"
#include "egress/protocol/byte_reader.hpp"
#include "policy/hosts/ip_address.hpp"

namespace cloche::egress {

enum class Way {
  out,      // to one other host: the only one that is taken
  own,      // it stays on this host
  many,     // broadcast, multicast or anycast
  none,     // no route, or one that says so: blackhole, unreachable, prohibit
  no_room,  // the kernel has no memory to say it
  unknown,  // it says something else
};

// Why an address with this way is refused, behind the address: ", which is this host's own". Empty: it is
// not a decision of ours.
std::string_view why_refused(Way way);
// What a system call that failed says of descriptors and memory, and not of the other side.
bool is_no_room(int number);

// A question for the route of a TCP connection, in the kernel's own form. Pure.
struct RouteQuestion {
  std::array<uint8_t, 64> bytes = {};
  size_t size = 0;

  Bytes view() const { return {bytes.data(), size}; }
};
RouteQuestion write_route_question(const IpAddress& address, uint16_t port, uint32_t sequence);
// The beginning of its answer is enough. Nothing: it is the answer to another question. Pure.
inline constexpr size_t most_route_answer = 64;
std::optional<Way> read_route_answer(Bytes message, uint32_t sequence);

// It can ask and change nothing where the process has no capability, and hears of nothing but routes.
OwnedFd route_socket();

class Routes {
 public:
  // Before lock_in(): a socket of this family cannot be made afterwards.
  Routes() : fd_(route_socket()) {}

  bool works() const { return static_cast<bool>(fd_); }
  Way way_to(const IpAddress& address, uint16_t port);

 private:
  OwnedFd fd_;
  uint32_t sequence_ = 0;
};

}  // namespace cloche::egress
