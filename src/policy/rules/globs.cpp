#include "policy/rules/globs.hpp"

#include <algorithm>

#include "base/sys/path.hpp"
#include "base/text/ascii.hpp"

namespace cloche {
namespace {

constexpr size_t longest_glob = 1024;
constexpr size_t most_alternatives = 64;

// Where the brace that opens at `open` closes; npos: nowhere.
size_t closing_brace(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '{') ++depth;
    if (text[i] == '}' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

// What stands between the commas of one pair of braces; commas of inner pairs are theirs.
std::vector<std::string_view> words_between(std::string_view inside) {
  std::vector<std::string_view> words;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] == '{') ++depth;
    if (inside[i] == '}') --depth;
    if (inside[i] != ',' || depth != 0) continue;
    words.push_back(inside.substr(begin, i - begin));
    begin = i + 1;
  }
  words.push_back(inside.substr(begin));
  return words;
}

}  // namespace

// Replaces the first pair of braces in each pattern until none has any.
Result<std::vector<std::string>> expand_braces(std::string_view text) {
  if (text.size() > longest_glob)
    return refusal("a glob longer than " + std::to_string(longest_glob) + " bytes");
  std::vector<std::string> open = {std::string(text)};
  std::vector<std::string> done;
  while (!open.empty()) {
    const std::string pattern = std::move(open.back());
    open.pop_back();
    const size_t begin = pattern.find('{');
    if (begin == std::string::npos) {
      done.push_back(pattern);
      continue;
    }
    const size_t end = closing_brace(pattern, begin);
    if (end == std::string_view::npos) return refusal("a brace of the glob is not closed");
    const std::string_view inside = std::string_view(pattern).substr(begin + 1, end - begin - 1);
    for (const auto& word : words_between(inside))
      open.push_back(pattern.substr(0, begin).append(word).append(pattern, end + 1));
    if (open.size() + done.size() > most_alternatives)
      return refusal("the braces of the glob stand for more than " + std::to_string(most_alternatives) +
                     " globs");
  }
  return done;
}

bool components_match(const GlobComponents& pattern, const std::vector<std::string_view>& path) {
  // As glob_matches does it with characters: on a mismatch the last ** takes one component more.
  constexpr size_t none = static_cast<size_t>(-1);
  size_t p = 0;
  size_t n = 0;
  size_t star = none;
  size_t resume = 0;
  while (n < path.size()) {
    if (p < pattern.size() && pattern[p] == "**") {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && glob_matches(pattern[p], path[n])) {
      ++p;
      ++n;
    } else if (star != none) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  return std::all_of(pattern.begin() + static_cast<std::ptrdiff_t>(p), pattern.end(),
                     [](const std::string& rest) { return rest == "**"; });
}

Result<PathGlob> PathGlob::read(std::string_view text) {
  PathGlob glob;
  for (const auto& pattern : TRY(expand_braces(text))) {
    const auto names = components_of(pattern);
    GlobComponents components(names.begin(), names.end());
    if (pattern.find('/') == std::string::npos) components.insert(components.begin(), "**");
    glob.alternatives_.push_back(std::move(components));
  }
  return glob;
}

bool PathGlob::matches(std::string_view path) const {
  const auto names = components_of(path);
  return std::ranges::any_of(alternatives_,
                             [&](const GlobComponents& pattern) { return components_match(pattern, names); });
}

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
  std::erase(name, '*');
  std::ranges::replace(name, '?', 'x');
  return name;
}

bool is_tool_pattern(std::string_view pattern) {
  constexpr size_t longest = 128;
  return !pattern.empty() && pattern.size() <= longest && std::ranges::all_of(pattern, [](char c) {
    return ascii::is_letter_or_digit(c) || std::string_view("_-.:/@*?").find(c) != std::string_view::npos;
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
