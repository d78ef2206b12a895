#include "egress/protocol/ip_address.hpp"

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

}  // namespace

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
