// An address of IPv4 or IPv6 as plain bytes, in network order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/text/fixed_text.hpp"

namespace cloche {

struct IpAddress {
  enum class Family : uint8_t { v4, v6 };

  Family family = Family::v4;
  std::array<uint8_t, 16> bytes = {};  // of IPv4 the first four; the others stay zero

  static constexpr IpAddress v4(std::span<const uint8_t, 4> bytes) {
    IpAddress address;
    for (size_t i = 0; i < 4; ++i) address.bytes[i] = bytes[i];
    return address;
  }
  static constexpr IpAddress v6(std::span<const uint8_t, 16> bytes) {
    IpAddress address{.family = Family::v6};
    for (size_t i = 0; i < 16; ++i) address.bytes[i] = bytes[i];
    return address;
  }

  std::span<const uint8_t> view() const {
    return {bytes.data(), family == Family::v4 ? size_t{4} : size_t{16}};
  }
  friend bool operator==(const IpAddress&, const IpAddress&) = default;
};

// "192.0.2.1", "2001:db8::1"; nothing else, and no zone.
std::optional<IpAddress> read_address(std::string_view text);
// For records and refusals: "192.0.2.1", "2001:db8::1" as RFC 5952 writes it.
FixedText<45> text_of(const IpAddress& address);

}  // namespace cloche
