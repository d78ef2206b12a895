// Names of the values of an enumeration that counts from zero: one table, read both ways.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace cloche {

// `last` is the last value of the enumeration, so that none of them is without a name.
template <auto last, size_t count>
constexpr std::string_view name_in(const std::string_view (&names)[count], decltype(last) value) {
  static_assert(count == static_cast<size_t>(last) + 1);
  const auto at = static_cast<size_t>(value);
  return at < count ? names[at] : "unknown";
}

template <typename Value, size_t count>
constexpr std::optional<Value> value_in(const std::string_view (&names)[count], std::string_view name) {
  for (size_t at = 0; at < count; ++at) {
    if (names[at] == name) return static_cast<Value>(at);
  }
  return std::nullopt;
}

}  // namespace cloche
