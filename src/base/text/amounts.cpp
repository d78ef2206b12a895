#include "base/text/amounts.hpp"

#include <iterator>

namespace cloche {

std::string count_text(uint64_t count) {
  std::string text = std::to_string(count);
  for (size_t place = text.size(); place > 3; place -= 3) text.insert(place - 3, ",");
  return text;
}

std::string count_text(uint64_t count, std::string_view singular) {
  return count_text(count) + " " + std::string(singular) + (count == 1 ? "" : "s");
}

std::string size_text(uint64_t bytes) {
  constexpr std::string_view units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  size_t unit = 0;
  uint64_t whole = bytes;
  uint64_t left = 0;
  for (; whole >= 1024; whole /= 1024, ++unit) left = whole % 1024;
  return std::to_string(whole) + "." + std::to_string(left * 10 / 1024) + " " + std::string(units[unit - 1]);
}

}  // namespace cloche
