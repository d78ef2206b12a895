#include "policy/tool_glob.hpp"

#include <algorithm>

namespace cloche {

bool is_glob(std::string_view pattern) { return pattern.find_first_of("*?") != std::string_view::npos; }

bool glob_matches(std::string_view pattern, std::string_view name) {
  // On a mismatch the last star takes one character more: linear in each star, no recursion.
  size_t p = 0;
  size_t n = 0;
  size_t star = std::string_view::npos;
  size_t resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::string sample_name(std::string_view pattern) {
  if (is_glob(pattern) && glob_matches(pattern, "run_shell")) return "run_shell";
  std::string name(pattern);
  name.erase(std::remove(name.begin(), name.end(), '*'), name.end());
  std::replace(name.begin(), name.end(), '?', 'x');
  return name;
}

bool is_tool_pattern(std::string_view pattern) {
  constexpr size_t longest = 128;
  return !pattern.empty() && pattern.size() <= longest &&
         std::all_of(pattern.begin(), pattern.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  std::string_view("_-.:/@*?").find(c) != std::string_view::npos;
         });
}

bool glob_covers(std::string_view wide, std::string_view narrow) {
  if (wide == narrow || wide.find_first_not_of('*') == std::string_view::npos) return true;
  if (!is_glob(narrow)) return glob_matches(wide, narrow);
  // "fs_*" covers "fs_read*": what comes before the only star, which is last, is a plain prefix.
  const std::string_view prefix = wide.substr(0, wide.size() - 1);
  return wide.back() == '*' && !is_glob(prefix) && narrow.starts_with(prefix);
}

}  // namespace cloche
