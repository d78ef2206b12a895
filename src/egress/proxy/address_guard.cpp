#include "egress/proxy/address_guard.hpp"

#include <algorithm>

namespace cloche {
namespace {

constexpr std::string_view metadata = "the address of a cloud's metadata service";
constexpr std::string_view cloud_service = "the address of a service of a cloud";
constexpr std::string_view loopback = "a loopback address";
constexpr std::string_view unspecified = "the unspecified address";
constexpr std::string_view link_local = "a link-local address";
constexpr std::string_view private_use = "a private address";
constexpr std::string_view shared = "an address of a carrier's shared space";
constexpr std::string_view multicast = "a multicast address";
constexpr std::string_view documentation = "an address for documentation";
constexpr std::string_view benchmarking = "an address for benchmarks";
constexpr std::string_view protocols = "an address kept for protocols";
constexpr std::string_view reserved = "a reserved address";
constexpr std::string_view six_to_four = "an address of a tunnel (6to4)";
constexpr std::string_view embedded = "an address of IPv6 with one of IPv4 inside";

struct Prefix {
  std::array<uint8_t, 16> bytes;
  unsigned bits;
  std::string_view reason;
};

// The first that fits answers, so what says more stands before what holds it. By the registries of
// special-purpose addresses of IANA, RFC 6890 and its successors.
constexpr Prefix of_v4[] = {
    {{0, 0, 0, 0}, 32, unspecified},
    {{0}, 8, "an address of this network (0.0.0.0/8)"},
    {{10}, 8, private_use},
    {{100, 100, 100, 200}, 32, metadata},
    {{100, 64}, 10, shared},
    {{127}, 8, loopback},
    {{168, 63, 129, 16}, 32, metadata},
    {{169, 254, 169, 254}, 32, metadata},
    {{169, 254, 170, 2}, 32, metadata},
    {{169, 254}, 16, link_local},
    {{172, 16}, 12, private_use},
    {{192, 0, 0, 192}, 32, metadata},
    {{192, 0, 0}, 24, protocols},
    {{192, 0, 2}, 24, documentation},
    {{192, 88, 99}, 24, six_to_four},
    {{192, 168}, 16, private_use},
    {{198, 18}, 15, benchmarking},
    {{198, 51, 100}, 24, documentation},
    {{203, 0, 113}, 24, documentation},
    {{224}, 4, multicast},
    {{255, 255, 255, 255}, 32, "the broadcast address"},
    {{240}, 4, reserved},
};

constexpr Prefix of_v6[] = {
    {{}, 128, unspecified},
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 128, loopback},
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96, embedded},  // ::ffff:0:0/96, mapped
    {{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96, embedded},        // ::ffff:0:0:0/96, translated
    {{}, 96, embedded},                                          // compatible, long given up
    {{0, 0x64, 0xff, 0x9b}, 96, "an address behind a translator (NAT64)"},
    {{0, 0x64, 0xff, 0x9b, 0, 1}, 48, "an address behind a translator (NAT64)"},
    {{0x01, 0}, 64, "an address that discards"},  // 100::/64
    {{0x20, 0x01, 0, 0}, 32, "an address of a tunnel (Teredo)"},
    {{0x20, 0x01, 0, 2}, 48, benchmarking},
    {{0x20, 0x01, 0, 0x10}, 28, "a hash and no address (ORCHID)"},
    {{0x20, 0x01, 0, 0x20}, 28, "a hash and no address (ORCHID)"},
    {{0x20, 0x01}, 23, protocols},  // the rest of 2001::/23
    {{0x20, 0x01, 0x0d, 0xb8}, 32, documentation},
    {{0x20, 0x02}, 16, six_to_four},
    {{0x3f, 0xff}, 20, documentation},
    // What clouds have in the private range: AWS (also of EKS, its resolver and its clock), Scaleway, Oracle
    // and Google.
    {{0xfd, 0, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54}, 128, metadata},
    {{0xfd, 0, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x23}, 128, metadata},
    {{0xfd, 0, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x53}, 128, cloud_service},
    {{0xfd, 0, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0x23}, 128, cloud_service},
    {{0xfd, 0, 0, 0x42, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x42}, 128, metadata},
    {{0xfd, 0, 0, 0xc1, 0, 0, 0, 0, 0, 0, 0, 0, 0xa9, 0xfe, 0xa9, 0xfe}, 128, metadata},
    {{0xfd, 0x20, 0, 0xce, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54}, 128, metadata},
    {{0xfc}, 7, private_use},
    {{0xfe, 0x80}, 10, link_local},
    {{0xfe, 0xc0}, 10, "a site-local address"},
    {{0xff}, 8, multicast},
};

constexpr Prefix public_v6 = {{0x20}, 3, {}};

bool begins_with(const IpAddress& address, const Prefix& prefix) {
  const size_t whole = prefix.bits / 8;
  for (size_t i = 0; i < whole; ++i)
    if (address.bytes[i] != prefix.bytes[i]) return false;
  const unsigned rest = prefix.bits % 8;
  return rest == 0 || (address.bytes[whole] >> (8 - rest)) == (prefix.bytes[whole] >> (8 - rest));
}

std::string_view reason_among(std::span<const Prefix> prefixes, const IpAddress& address) {
  for (const Prefix& prefix : prefixes)
    if (begins_with(address, prefix)) return prefix.reason;
  return {};
}

// ISATAP: an address of IPv4 in the lower half, whatever the upper one is.
bool holds_v4_below(const IpAddress& address) {
  const auto& b = address.bytes;
  return (b[8] == 0 || b[8] == 2) && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe;
}

std::string_view why_not_public_v6(const IpAddress& address) {
  if (const auto reason = reason_among(of_v6, address); !reason.empty()) return reason;
  if (!begins_with(address, public_v6)) return reserved;
  return holds_v4_below(address) ? embedded : std::string_view{};
}

}  // namespace

std::string_view why_not_dialled(const IpAddress& address, std::span<const IpAddress> own) {
  const bool v4 = address.family == IpAddress::Family::v4;
  if (const auto reason = v4 ? reason_among(of_v4, address) : why_not_public_v6(address); !reason.empty())
    return reason;
  const bool ours = std::find(own.begin(), own.end(), address) != own.end();
  return ours ? "an address of this host" : std::string_view{};
}

std::string_view why_not_in_range(const IpAddress& address) {
  const std::string_view reason = why_not_dialled(address, {});
  if (reason != private_use && reason != shared) return reason;
  const bool v6 = address.family == IpAddress::Family::v6;
  return v6 && holds_v4_below(address) ? embedded : std::string_view{};
}

}  // namespace cloche
