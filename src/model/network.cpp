#include "model/network.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/sys/inside_range.hpp"

namespace cloche {
namespace {

constexpr uint32_t loopback4 = 0x7f000001;
constexpr uint16_t first_free_port = 1024;  // below it nothing inside can bind: the command has no capability
constexpr size_t most_own_doors = 16;       // of one port; more share one for every address

NetAddress mapped(uint32_t v4) {
  NetAddress address = {};
  address[10] = address[11] = 0xff;
  for (size_t i = 0; i < 4; ++i) address[12 + i] = static_cast<uint8_t>(v4 >> (24 - 8 * i));
  return address;
}

uint32_t low_word(const NetAddress& address) {
  return uint32_t{address[12]} << 24 | uint32_t{address[13]} << 16 | uint32_t{address[14]} << 8 | address[15];
}

NamedHost& named_for(NetworkShape& shape, const HostEntry& entry, uint32_t& next) {
  const auto known = std::find_if(shape.named.begin(), shape.named.end(),
                                  [&](const NamedHost& host) { return host.name == entry.name; });
  if (known != shape.named.end()) return *known;
  shape.named.push_back({entry.name, entry.is_localhost() ? localhost_offset : next++, {}});
  return shape.named.back();
}

void add_once(std::vector<uint16_t>& ports, uint16_t port) {
  if (std::find(ports.begin(), ports.end(), port) == ports.end()) ports.push_back(port);
}

bool has_port(const NamedHost& host, uint16_t port) {
  return std::find(host.ports.begin(), host.ports.end(), port) != host.ports.end();
}

// Whether the port is taken whatever the address: a name below a wildcard has none yet; below 1024
// the command could not use it; and the host's loopback is what 127.0.0.1 and ::1 mean to every program.
bool is_taken_everywhere(const NetworkShape& shape, uint16_t port) {
  if (port < first_free_port) return true;
  const bool unforeseen = std::any_of(shape.below.begin(), shape.below.end(),
                                      [&](const HostEntry& entry) { return entry.port == port; });
  return unforeseen || std::any_of(shape.named.begin(), shape.named.end(), [&](const NamedHost& host) {
           return host.offset == localhost_offset && has_port(host, port);
         });
}

// A port that the command could use for a server of its own is taken at the declared names' addresses alone,
// as long as there are not too many of them.
void add_doors(NetworkShape& shape, uint16_t port, size_t most) {
  std::vector<NetworkListener> own;
  for (const auto& host : shape.named) {
    if (!has_port(host, port)) continue;
    own.push_back({NetworkListener::Kind::stream, inside_address4(host.offset), port});
    own.push_back({NetworkListener::Kind::stream, inside_address6(host.offset), port});
  }
  if (is_taken_everywhere(shape, port) || own.size() > most)
    own.assign({{NetworkListener::Kind::stream, {}, port}});
  shape.listeners.insert(shape.listeners.end(), own.begin(), own.end());
}

}  // namespace

HostEntry host_entry(std::string_view text) {
  HostEntry entry;
  const size_t colon = text.rfind(':');
  if (colon != std::string_view::npos) {
    std::from_chars(text.data() + colon + 1, text.data() + text.size(), entry.port);
    text = text.substr(0, colon);
  }
  if (!text.empty() && text[0] == '*') {
    entry.below = true;
    text.remove_prefix(text.size() > 1 && text[1] == '.' ? 2 : 1);
  }
  entry.name = text;
  return entry;
}

std::string to_text(const HostEntry& entry) {
  const std::string_view front = entry.is_any() ? "*" : entry.below ? "*." : "";
  return std::string(front) + entry.name + ":" + std::to_string(entry.port);
}

NetAddress inside_address4(uint32_t offset) { return mapped(inside_range4 + offset); }

NetAddress inside_address6(uint32_t offset) {
  NetAddress address = mapped(inside_range4 + offset);
  std::copy(std::begin(inside_range6), std::end(inside_range6), address.begin());
  return address;
}

uint32_t offset_of(const NetAddress& address) {
  const uint32_t low = low_word(address);
  if (low < inside_range4 || low - inside_range4 >= 1U << (32 - inside_range4_bits)) return no_offset;
  const uint32_t offset = low - inside_range4;
  return address == inside_address4(offset) || address == inside_address6(offset) ? offset : no_offset;
}

bool is_loopback(const NetAddress& address) {
  NetAddress loopback6 = {};
  loopback6.back() = 1;
  return address == mapped(loopback4) || address == loopback6;
}

uint32_t reached_offset(const NetAddress& address) {
  return is_loopback(address) ? localhost_offset : offset_of(address);
}

std::string dotted(uint32_t offset) {
  const uint32_t v4 = inside_range4 + offset;
  std::string text;
  for (const unsigned shift : {24U, 16U, 8U, 0U}) {
    if (!text.empty()) text += '.';
    text += std::to_string((v4 >> shift) & 0xff);
  }
  return text;
}

NetworkShape shape_of(const std::vector<std::string>& hosts) {
  NetworkShape shape;
  if (hosts.empty()) {
    // Answers that there is no such name fit into a datagram.
    shape.listeners = {{NetworkListener::Kind::datagram, mapped(loopback4), dns_port}};
    return shape;
  }
  uint32_t next = first_named_offset;
  std::vector<uint16_t> ports;
  for (const auto& text : hosts) {
    HostEntry entry = host_entry(text);
    add_once(ports, entry.port);
    if (entry.below) {
      shape.below.push_back(std::move(entry));
    } else {
      add_once(named_for(shape, entry, next).ports, entry.port);
    }
  }
  const NetAddress resolver = inside_address4(resolver_offset);
  shape.listeners = {{NetworkListener::Kind::datagram, resolver, dns_port},
                     {NetworkListener::Kind::stream, resolver, dns_port}};
  for (size_t i = 0; i < ports.size(); ++i) {
    const size_t kept = shape.listeners.size() + (ports.size() - i - 1);  // one for each port to come
    const size_t room = most_listeners > kept ? most_listeners - kept : 0;
    add_doors(shape, ports[i], std::min(room, most_own_doors));
  }
  return shape;
}

std::vector<NetworkListener> connectors() {
  constexpr size_t half = connectors_of_published / 2;
  std::vector<NetworkListener> all(half, {NetworkListener::Kind::stream, mapped(0), 0});
  all.resize(2 * half);
  return all;
}

std::string hosts_file_for(const std::vector<std::string>& hosts) {
  const bool served = std::any_of(hosts.begin(), hosts.end(),
                                  [](const std::string& text) { return host_entry(text).is_localhost(); });
  // localhost is the sandbox's own, as everywhere; at a declared port the loopback itself leads to the host,
  // because many programs (curl) take 127.0.0.1 for it without a look here.
  const std::string own = "127.0.0.1 localhost cloche\n::1 localhost ip6-localhost\n";
  return served ? own + dotted(localhost_offset) + " " + std::string(host_loopback_name) + "\n" : own;
}

std::string resolver_file_for(const std::vector<std::string>& hosts) {
  if (hosts.empty()) return "# no network: this resolver knows no name\nnameserver 127.0.0.1\n";
  return "nameserver " + dotted(resolver_offset) + "\noptions timeout:5 attempts:2\n";
}

}  // namespace cloche
