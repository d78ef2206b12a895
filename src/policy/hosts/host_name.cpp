#include "policy/hosts/host_name.hpp"

#include <algorithm>

#include "base/text/ascii.hpp"

namespace cloche {
namespace {

constexpr size_t max_label = 63;

constexpr std::string_view is_empty = "it is empty";
constexpr std::string_view too_long = "it is longer than 253 characters";
constexpr std::string_view empty_label = "it has an empty label: two dots, or one at the front";
constexpr std::string_view long_label = "it has a label of more than 63 characters";
constexpr std::string_view edge_hyphen = "a label begins or ends with a hyphen";
constexpr std::string_view wrong_character = "labels are made of letters, digits and hyphens";
constexpr std::string_view beyond_ascii = "it has a letter beyond ASCII: write its xn-- form";
constexpr std::string_view is_address = "it is an address, and hosts go by their names";

bool is_label_character(char c) { return ascii::is_letter(c) || ascii::is_digit(c) || c == '-'; }
bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

// inet_aton and the URL standard read a name whose last label is a number as an address: octal, hexadecimal,
// one to four parts. What the parts would mean does not matter, since no top-level domain is a number.
bool is_number(std::string_view label) {
  if (ascii::all(label, ascii::is_digit)) return true;
  return label.starts_with("0x") && ascii::all(label.substr(2), ascii::is_hex);
}

std::string_view last_label(std::string_view name) { return name.substr(name.rfind('.') + 1); }

// The brackets and colons of an address of IPv6 would be told as wrong characters, which is true and no help.
bool looks_like_ipv6(std::string_view text) {
  return text.starts_with('[') || std::ranges::count(text, ':') > 1;
}

}  // namespace

ReadName HostName::read(std::string_view text) {
  if (text.empty()) return {.problem = is_empty};
  if (looks_like_ipv6(text)) return {.problem = is_address};
  if (text.ends_with('.')) text.remove_suffix(1);  // the root: the same name
  HostName name;
  while (true) {
    const std::string_view label = text.substr(0, text.find('.'));
    if (const auto problem = name.append(label); !problem.empty()) return {.problem = problem};
    if (label.size() == text.size()) break;
    text.remove_prefix(label.size() + 1);
  }
  if (is_number(last_label(name.text()))) return {.problem = is_address};
  return {.name = name};
}

std::string_view HostName::append(std::string_view label) {
  if (label.empty()) return empty_label;
  if (!ascii::all(label, is_ascii)) return beyond_ascii;
  if (label.size() > max_label) return long_label;
  if (!ascii::all(label, is_label_character)) return wrong_character;
  if (label.front() == '-' || label.back() == '-') return edge_hyphen;
  if (text_.size() > 0 && !text_.append('.')) return too_long;
  for (const char c : label)
    if (!text_.append(ascii::lower(c))) return too_long;
  return {};
}

bool HostName::is_below(const HostName& parent) const {
  const std::string_view whole = text();
  const std::string_view tail = parent.text();
  return whole.size() > tail.size() + 1 && whole.ends_with(tail) &&
         whole[whole.size() - tail.size() - 1] == '.';
}

}  // namespace cloche
