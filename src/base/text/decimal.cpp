#include "base/text/decimal.hpp"

#include <algorithm>
#include <cassert>

namespace cloche {
namespace {

constexpr int64_t largest_exponent = 1'000'000'000;
constexpr int64_t most_zeros = 40;  // that a text writes out

int64_t read_exponent(std::string_view text) {
  const bool negative = text.starts_with('-');
  int64_t size = 0;
  for (char c : text) {
    if (c != '+' && c != '-') size = std::min(size * 10 + (c - '0'), largest_exponent);
  }
  return negative ? -size : size;
}

void strip_zeros(Decimal& value) {
  value.digits.erase(0, std::min(value.digits.find_first_not_of('0'), value.digits.size()));
  const size_t kept = value.digits.find_last_not_of('0') + 1;  // npos + 1 is 0
  value.exponent += static_cast<int64_t>(value.digits.size() - kept);
  value.digits.resize(kept);
  if (value.digits.empty()) value = {};
}

// Of two that are not negative.
int compare_sizes(const Decimal& a, const Decimal& b) {
  if (a.digits.empty() || b.digits.empty())
    return static_cast<int>(b.digits.empty()) - static_cast<int>(a.digits.empty());
  const int64_t a_length = static_cast<int64_t>(a.digits.size()) + a.exponent;
  const int64_t b_length = static_cast<int64_t>(b.digits.size()) + b.exponent;
  if (a_length != b_length) return a_length < b_length ? -1 : 1;
  const int order = a.digits.compare(b.digits);  // the points stand below each other
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

}  // namespace

Decimal decimal_of(std::string_view text) {
  Decimal value;
  value.negative = text.starts_with('-');
  if (value.negative) text.remove_prefix(1);
  const size_t mark = std::min(text.find_first_of("eE"), text.size());
  if (mark < text.size()) value.exponent = read_exponent(text.substr(mark + 1));
  text = text.substr(0, mark);
  const size_t point = std::min(text.find('.'), text.size());
  value.digits = text.substr(0, point);
  if (point < text.size()) {
    value.digits += text.substr(point + 1);
    value.exponent -= static_cast<int64_t>(text.size() - point - 1);
  }
  strip_zeros(value);
  return value;
}

int compare(const Decimal& a, const Decimal& b) {
  if (a.negative != b.negative) return a.negative ? -1 : 1;
  return a.negative ? compare_sizes(b, a) : compare_sizes(a, b);
}

bool is_multiple(const Decimal& value, const Decimal& divisor) {
  assert(!divisor.digits.empty() && divisor.digits.size() <= max_divisor_digits);
  if (value.digits.empty()) return true;
  // The digits do not end in a zero, so no tenth of the divisor's unit comes out even.
  if (value.exponent < divisor.exponent) return false;
  __int128 by = 0;
  for (char c : divisor.digits) by = by * 10 + (c - '0');
  __int128 rest = 0;
  for (char c : value.digits) rest = (rest * 10 + (c - '0')) % by;
  for (int64_t zeros = value.exponent - divisor.exponent; zeros > 0 && rest != 0; --zeros)
    rest = rest * 10 % by;
  return rest == 0;
}

std::string to_text(const Decimal& value) {
  if (value.digits.empty()) return "0";
  std::string text = (value.negative ? "-" : "") + value.digits;
  if (value.exponent < 0 || value.exponent > most_zeros) return text + "e" + std::to_string(value.exponent);
  return text + std::string(static_cast<size_t>(value.exponent), '0');
}

}  // namespace cloche
