#include "policy/hosts/address_range.hpp"

#include <charconv>

namespace cloche {
namespace {

constexpr std::string_view no_range = "addresses are a range, as 10.1.0.0/16 or fd12:3456::/32";
constexpr std::string_view beyond_first =
    "the address is not the first of its range: the bits behind the prefix are zero";
constexpr std::string_view too_wide = "the range is too wide: /8 and longer of IPv4, /16 and longer of IPv6";
constexpr std::string_view never =
    "no name leads there: not loopback, link-local, multicast or an address that stands for another";

constexpr unsigned least_bits4 = 8;
constexpr unsigned least_bits6 = 16;

unsigned size_in_bits(const IpAddress& address) { return static_cast<unsigned>(8 * address.view().size()); }

bool is_first(const IpAddress& address, unsigned bits) {
  for (unsigned bit = bits; bit < size_in_bits(address); ++bit)
    if ((address.bytes[bit / 8] >> (7 - bit % 8) & 1U) != 0) return false;
  return true;
}

// An address of IPv4 within: a tunnel's (Teredo), or in the lower half (ISATAP). Of a wider range the network
// gate refuses those that are in it.
bool has_v4_inside(const IpAddress& first, unsigned bits) {
  const auto& b = first.bytes;
  const bool teredo = bits >= 32 && b[0] == 0x20 && b[1] == 0x01 && b[2] == 0 && b[3] == 0;
  const bool isatap = bits >= 96 && (b[8] == 0 || b[8] == 2) && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe;
  return teredo || isatap;
}

// By the first bytes alone, which no range is too wide for. What the table of the network gate refuses
// beneath is refused there.
bool is_never(const IpAddress& address) {
  const uint8_t first = address.bytes[0];
  const uint8_t second = address.bytes[1];
  if (address.family == IpAddress::Family::v4)
    return first == 0 || first == 127 || first >= 224 || (first == 169 && second == 254);
  const bool is_global = (first & 0xe0) == 0x20 && !(first == 0x20 && second == 0x02);
  const bool is_private = (first & 0xfe) == 0xfc;
  return !is_global && !is_private;
}

}  // namespace

bool AddressRange::contains(const IpAddress& address) const {
  if (address.family != first.family) return false;
  for (unsigned bit = 0; bit < bits; ++bit) {
    const unsigned differ = address.bytes[bit / 8] ^ first.bytes[bit / 8];
    if ((differ >> (7 - bit % 8) & 1U) != 0) return false;
  }
  return true;
}

ReadRange read_address_range(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return {.problem = no_range};
  const auto first = read_address(text.substr(0, slash));
  const std::string_view number = text.substr(slash + 1);
  unsigned bits = 0;
  const char* end = number.data() + number.size();
  const auto [at, problem] = std::from_chars(number.data(), end, bits);
  const bool is_number =
      problem == std::errc{} && at == end && (number.size() == 1 || !number.starts_with('0'));
  if (!first || !is_number || bits > size_in_bits(*first)) return {.problem = no_range};
  const bool v4 = first->family == IpAddress::Family::v4;
  if (is_never(*first) || (!v4 && has_v4_inside(*first, bits))) return {.problem = never};
  if (bits < (v4 ? least_bits4 : least_bits6)) return {.problem = too_wide};
  if (!is_first(*first, bits)) return {.problem = beyond_first};
  return {.range = AddressRange{*first, bits}};
}

std::string host_range_text(const HostEntry& host, std::string_view cidr) {
  const std::string text = to_text(host);
  const size_t colon = text.rfind(':');
  return text.substr(0, colon) + "@" + std::string(cidr) + text.substr(colon);
}

std::optional<HostRange> read_host_range(std::string_view text) {
  const size_t at = text.find('@');
  const size_t colon = text.rfind(':');
  if (at == std::string_view::npos || colon == std::string_view::npos || colon < at) return {};
  const ReadRange read = read_address_range(text.substr(at + 1, colon - at - 1));
  HostEntry host = host_entry(std::string(text.substr(0, at)) + std::string(text.substr(colon)));
  if (!read || host.port == 0) return {};
  return HostRange{std::move(host), *read.range};
}

bool is_about(const HostEntry& host, std::string_view name, uint16_t port) {
  if (host.port != port || host.name.empty()) return false;
  if (!host.below) return name == host.name;
  return name.size() > host.name.size() + 1 && name.ends_with(host.name) &&
         name[name.size() - host.name.size() - 1] == '.';
}

}  // namespace cloche
