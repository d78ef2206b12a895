// UTF-8 one code point at a time, to a number and back. In a header alone: the static front uses it as well,
// and links no more than it must.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cloche::utf8 {

// Length of the sequence at the front of `text`, or 0 when there is none as RFC 3629 has it.
inline size_t sequence_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto follows = [&](size_t i) { return i < text.size() && (byte(i) & 0xc0U) == 0x80U; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return follows(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    if (!follows(1) || !follows(2)) return 0;
    if (lead == 0xe0 && byte(1) < 0xa0) return 0;   // overlong
    if (lead == 0xed && byte(1) >= 0xa0) return 0;  // surrogates
    return 3;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    if (lead == 0xf0 && byte(1) < 0x90) return 0;   // overlong
    if (lead == 0xf4 && byte(1) >= 0x90) return 0;  // past U+10FFFF
    return 4;
  }
  return 0;
}

struct CodePoint {
  unsigned value;
  size_t length;
};

// The code point at the front of text that was found good.
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

// The same text with U+FFFD for each byte that is not UTF-8, so that a reader sees where it was.
inline std::string with_replacements(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = sequence_length(text);
    length == 0 ? out += "\xef\xbf\xbd" : out += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

// How many bytes at the end only begin a sequence: the rest of it lies behind the cut.
inline size_t unfinished_tail(std::string_view text) {
  for (size_t tail = 1; tail <= 3 && tail <= text.size(); ++tail) {
    const auto lead = static_cast<unsigned char>(text[text.size() - tail]);
    if ((lead & 0xc0U) == 0x80U) continue;
    const size_t whole = lead > 0xf4 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 1;
    return whole > tail ? tail : 0;
  }
  return 0;
}

}  // namespace cloche::utf8
