#include "policy/hosts/ip_address.hpp"

#include <charconv>
#include <vector>

namespace cloche {
namespace {

using AddressText = FixedText<45>;

// The longest address has eight groups of four digits and seven colons, so appending never fails.
void put(AddressText& out, char c) { (void)out.append(c); }

void put_decimal(AddressText& out, uint8_t value) {
  if (value >= 100) put(out, static_cast<char>('0' + value / 100));
  if (value >= 10) put(out, static_cast<char>('0' + value / 10 % 10));
  put(out, static_cast<char>('0' + value % 10));
}

void put_group(AddressText& out, unsigned group) {
  constexpr std::string_view digits = "0123456789abcdef";
  bool begun = false;
  for (int shift = 12; shift >= 0; shift -= 4) {
    const unsigned digit = (group >> shift) & 0xfU;
    begun = begun || digit != 0 || shift == 0;
    if (begun) put(out, digits[digit]);
  }
}

struct Zeros {
  size_t first = 8;
  size_t count = 0;
};

// The first of the longest runs of two or more groups that are zero.
Zeros longest_zeros(const std::array<unsigned, 8>& groups) {
  Zeros longest{.count = 1};
  for (size_t i = 0; i < groups.size();) {
    size_t end = i;
    while (end < groups.size() && groups[end] == 0) ++end;
    if (end - i > longest.count) longest = {i, end - i};
    i = end + 1;
  }
  return longest.first == 8 ? Zeros{} : longest;
}

std::optional<IpAddress> read_v4(std::string_view text) {
  std::array<uint8_t, 4> bytes{};
  const char* at = text.data();
  const char* end = at + text.size();
  for (size_t i = 0; i < 4; ++i) {
    if (i > 0 && (at == end || *at++ != '.')) return {};
    const auto [next, problem] = std::from_chars(at, end, bytes[i]);
    if (problem != std::errc{} || next == at) return {};
    if (*at == '0' && next - at > 1) return {};  // some read such a number as an octal one
    at = next;
  }
  if (at != end) return {};
  return IpAddress::v4(bytes);
}

// Groups of hexadecimal digits; at most one "::"; no dotted tail and no zone, which no public address has.
std::optional<IpAddress> read_v6(std::string_view text) {
  std::vector<uint16_t> groups;
  std::optional<size_t> gap;
  while (!text.empty()) {
    if (text.starts_with("::")) {
      if (gap) return {};
      gap = groups.size();
      text.remove_prefix(2);
      continue;
    }
    if (!groups.empty() && gap != groups.size()) {
      if (text[0] != ':') return {};
      text.remove_prefix(1);
    }
    uint16_t group = 0;
    const auto [next, problem] = std::from_chars(text.data(), text.data() + text.size(), group, 16);
    const auto length = static_cast<size_t>(next - text.data());
    if (problem != std::errc{} || length == 0 || length > 4 || groups.size() == 8) return {};
    groups.push_back(group);
    text.remove_prefix(length);
  }
  if (gap ? groups.size() > 7 : groups.size() != 8) return {};
  if (gap) groups.insert(groups.begin() + static_cast<ptrdiff_t>(*gap), 8 - groups.size(), 0);
  std::array<uint8_t, 16> bytes{};
  for (size_t i = 0; i < 8; ++i) {
    bytes[2 * i] = static_cast<uint8_t>(groups[i] >> 8);
    bytes[2 * i + 1] = static_cast<uint8_t>(groups[i]);
  }
  return IpAddress::v6(bytes);
}

}  // namespace

std::optional<IpAddress> read_address(std::string_view text) {
  return text.find(':') == std::string_view::npos ? read_v4(text) : read_v6(text);
}

FixedText<45> text_of(const IpAddress& address) {
  AddressText out;
  if (address.family == IpAddress::Family::v4) {
    for (size_t i = 0; i < 4; ++i) {
      if (i > 0) put(out, '.');
      put_decimal(out, address.bytes[i]);
    }
    return out;
  }
  std::array<unsigned, 8> groups = {};
  for (size_t i = 0; i < groups.size(); ++i)
    groups[i] = static_cast<unsigned>(address.bytes[2 * i] << 8 | address.bytes[2 * i + 1]);
  const Zeros zeros = longest_zeros(groups);
  for (size_t i = 0; i < groups.size(); ++i) {
    if (i == zeros.first) {
      (void)out.append("::");
      i += zeros.count - 1;
      continue;
    }
    if (i > 0 && out.view().back() != ':') put(out, ':');
    put_group(out, groups[i]);
  }
  return out;
}

}  // namespace cloche
