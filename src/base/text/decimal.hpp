// A number of JSON's exactly as it was written, whatever its size: digits * 10^exponent. Doubles hold no more
// than 53 bits and say that 9007199254740993 is 9007199254740992, which is another number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cloche {

// One value for one number: no zero stands at either end of the digits, and zero has none.
struct Decimal {
  bool negative = false;
  std::string digits = {};
  int64_t exponent = 0;

  bool operator==(const Decimal&) const = default;
  bool is_whole() const { return exponent >= 0; }
};

// `text` is a number by JSON's grammar; exponents beyond a milliard are that.
Decimal decimal_of(std::string_view text);

// Less than, equal to or greater than zero, as a is to b.
int compare(const Decimal& a, const Decimal& b);

// What a divisor may have, so that it and ten times a remainder fit into 128 bits.
inline constexpr size_t max_divisor_digits = 37;
// Whether `value` is a whole number of times `divisor`, which is not zero and has no more digits than that.
bool is_multiple(const Decimal& value, const Decimal& divisor);

// "-1200", and beyond 40 digits or with a fraction "12e2".
std::string to_text(const Decimal& value);

}  // namespace cloche
