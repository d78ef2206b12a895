// The network of one call, as values: which names it may reach, the addresses that stand for them inside its
// network namespace, and the sockets that wait there. Pure; the jail opens the sockets, the egress process
// answers on them.
//
// Inside, 198.18.0.0/15 (and a range of local IPv6 addresses with the same last 32 bits) is routed to
// loopback, so that every address of it is the namespace's own:
//
//   198.18.0.1          the resolver
//   198.18.0.2          host.cloche: the host's loopback, where a service of it was declared; its port is
//                       the host's at 127.0.0.1 and ::1 as well, since that is what `localhost` means
//   198.18.1.0 ...      the declared names, in the order of the plan
//   198.19.0.0 ...      names below a declared `*.name`, as they are asked for
//
// No address of it means anything outside.
//
// Without a declared host there is no such range, only a resolver at 127.0.0.1 that knows no name: a program
// that looks one up hears at once that there is none, and the gate hears which one it was.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cloche {

// One `NAME:PORT`, `*.NAME:PORT`, `localhost:PORT` or `*:PORT` of ConfinementPlan::hosts.
struct HostEntry {
  std::string name = {};  // without "*."
  uint16_t port = 0;
  bool below = false;  // any name below it, not itself; with an empty name: any public name at all

  bool operator==(const HostEntry&) const = default;
  bool is_localhost() const { return !below && name == "localhost"; }
  bool is_any() const { return below && name.empty(); }
};

// The plan's own spelling; it was validated when the plan was made.
HostEntry host_entry(std::string_view text);
std::string to_text(const HostEntry& entry);

// The second name of the host's loopback inside. No host has it outside, nor a name below it.
inline constexpr std::string_view host_loopback_name = "host.cloche";
inline bool is_host_loopback_name(std::string_view name) {
  if (!name.ends_with(host_loopback_name)) return false;
  name.remove_suffix(host_loopback_name.size());
  return name.empty() || name.ends_with('.');
}

// The port of the resolver, at an address of its own inside.
inline constexpr uint16_t dns_port = 53;

// An address as IPv6 has it; IPv4 is mapped (::ffff:a.b.c.d).
using NetAddress = std::array<uint8_t, 16>;

inline constexpr uint32_t resolver_offset = 1;
inline constexpr uint32_t localhost_offset = 2;
inline constexpr uint32_t first_named_offset = 0x100;
inline constexpr uint32_t first_found_offset = 0x10000;

NetAddress inside_address4(uint32_t offset);
NetAddress inside_address6(uint32_t offset);
// Of an address of either range; anything else is no address of ours.
inline constexpr uint32_t no_offset = ~0U;
uint32_t offset_of(const NetAddress& address);
// Whose a connection to this address is: 127.0.0.1 and ::1 are localhost's.
bool is_loopback(const NetAddress& address);
uint32_t reached_offset(const NetAddress& address);
std::string dotted(uint32_t offset);  // "198.18.1.0"

// A socket that is bound inside before the command starts. Of an address of all zeros: every local one, of
// both families.
struct NetworkListener {
  enum class Kind : uint32_t { datagram, stream };

  Kind kind = Kind::stream;
  NetAddress address = {};
  uint16_t port = 0;

  bool operator==(const NetworkListener&) const = default;
};

struct NamedHost {
  std::string name;
  uint32_t offset = 0;
  std::vector<uint16_t> ports;
};

struct NetworkShape {
  std::vector<NamedHost> named = {};            // localhost among them, when declared
  std::vector<HostEntry> below = {};            // what wildcards say
  std::vector<NetworkListener> listeners = {};  // the resolver's two first; without hosts its one alone
};
NetworkShape shape_of(const std::vector<std::string>& hosts);

inline constexpr size_t most_listeners = 64;
// Sockets of the sandbox's network that are connected to its servers from outside, for published ports: half
// of them of IPv4. As many connections there are at once.
inline constexpr size_t connectors_of_published = 64;
inline constexpr size_t most_published = 16;
std::vector<NetworkListener> connectors();  // not bound: without a port
inline constexpr size_t most_hosts = 256;   // of a plan

// What /etc/hosts and /etc/resolv.conf say inside.
std::string hosts_file_for(const std::vector<std::string>& hosts);
std::string resolver_file_for(const std::vector<std::string>& hosts);

}  // namespace cloche
