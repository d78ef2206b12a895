// Text with something between its pieces.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace cloche {

// Takes off the front what stands before the separator, and the separator; all of it where there is none.
inline std::string_view take_until(std::string_view& rest, std::string_view separators) {
  const std::string_view piece = rest.substr(0, rest.find_first_of(separators));
  rest.remove_prefix(std::min(piece.size() + 1, rest.size()));
  return piece;
}
inline std::string_view take_line(std::string_view& rest) { return take_until(rest, "\n"); }

// "a, b, c"
template <typename Words>
std::string comma_separated(const Words& words) {
  std::string text;
  for (const auto& word : words) text.append(text.empty() ? "" : ", ").append(word);
  return text;
}

}  // namespace cloche
