// Letters and digits of ASCII, whatever the locale: what protocols mean by them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace cloche::ascii {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
constexpr bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }
constexpr bool is_letter_or_digit(char c) { return is_letter(c) || is_digit(c); }
constexpr bool is_hex(char c) { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f'); }

inline std::string lowered(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

constexpr bool is_control(char c) { return (c >= 0 && c < 0x20) || c == 0x7f; }

constexpr bool all(std::string_view text, bool (*good)(char)) {
  for (const char c : text)
    if (!good(c)) return false;
  return true;
}

// Of a variable: letters, digits and _, and no digit first.
constexpr bool is_variable_name(std::string_view name) {
  return !name.empty() && !is_digit(name[0]) &&
         all(name, [](char c) { return is_letter_or_digit(c) || c == '_'; });
}

constexpr bool same_without_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (lower(a[i]) != lower(b[i])) return false;
  return true;
}

}  // namespace cloche::ascii
