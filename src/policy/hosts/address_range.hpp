// Ranges of addresses that the operator lets a name lead into: `NAME@CIDR[:PORT]`, for a company's mirrors
// and for names that resolve differently inside a network.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/network.hpp"
#include "policy/hosts/ip_address.hpp"

namespace cloche {

struct AddressRange {
  IpAddress first = {};
  unsigned bits = 0;

  bool contains(const IpAddress& address) const;
  friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

struct ReadRange {
  std::optional<AddressRange> range = {};
  std::string_view problem = {};  // where there is none: half a sentence

  explicit operator bool() const { return range.has_value(); }
};

// "10.1.0.0/16", "fd12:3456::/32". Of private and of public addresses; never loopback, link-local or another
// that no host outside has alone. What is within such a range is judged again when it is dialled: a metadata
// service stays refused.
ReadRange read_address_range(std::string_view text);

// Which name, at which port, may lead into which range: a plan's "NAME@CIDR:PORT".
struct HostRange {
  HostEntry host = {};
  AddressRange range = {};
};
std::string host_range_text(const HostEntry& host, std::string_view cidr);
std::optional<HostRange> read_host_range(std::string_view text);
// Whether the name, or what is below it where it is a wildcard, is meant at this port.
bool is_about(const HostEntry& host, std::string_view name, uint16_t port);

}  // namespace cloche
