// Punycode (RFC 3492): letters beyond ASCII as one label of LDH characters, and back. Pure arithmetic on
// values of fixed size; what a label may say is idna.hpp's business.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "base/fixed_text.hpp"

namespace cloche {

inline constexpr size_t max_label = 63;
using LabelText = FixedText<max_label>;

// Each code point takes a byte of punycode or more, so a label never holds more of them.
struct LabelPoints {
  std::array<char32_t, max_label> points = {};
  size_t count = 0;

  std::span<const char32_t> view() const { return {points.data(), count}; }
};

// Without "xn--". Nothing: it does not fit into a label, or it is no punycode. Neither is told apart from the
// other, since both mean that there is no such label.
std::optional<LabelText> punycode_encode(std::span<const char32_t> points);
std::optional<LabelPoints> punycode_decode(std::string_view text);

}  // namespace cloche
