// One character of UTF-8 that was found good (is_utf8), to a number and back.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cloche {

inline constexpr unsigned last_code_point = 0x10ffff;

struct CodePoint {
  unsigned value;
  size_t length;  // in bytes
};

// `text` is not empty.
inline CodePoint decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto more = [&](size_t i) { return byte(i) & 0x3fU; };
  if (byte(0) < 0x80) return {byte(0), 1};
  if (byte(0) < 0xe0) return {(byte(0) & 0x1fU) << 6 | more(1), 2};
  if (byte(0) < 0xf0) return {(byte(0) & 0x0fU) << 12 | more(1) << 6 | more(2), 3};
  return {(byte(0) & 0x07U) << 18 | more(1) << 12 | more(2) << 6 | more(3), 4};
}

inline std::string encode(unsigned code) {
  const auto more = [&](int shift) { return static_cast<char>(0x80U | ((code >> shift) & 0x3fU)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xc0U | code >> 6), more(0)};
  if (code < 0x10000) return {static_cast<char>(0xe0U | code >> 12), more(6), more(0)};
  return {static_cast<char>(0xf0U | code >> 18), more(12), more(6), more(0)};
}

}  // namespace cloche
