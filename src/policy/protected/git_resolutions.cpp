#include "policy/protected/git_resolutions.hpp"

#include <algorithm>

#include "policy/protected/git_index.hpp"

namespace cloche {
namespace {

// Of SHA-1 or SHA-256. Git takes one of the other length for a damaged file.
bool is_conflict_id(std::string_view id) {
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return (id.size() == 40 || id.size() == 64) && std::ranges::all_of(id, is_hex);
}

// Which of several resolutions with the same id; git counts from 1, and reads signs and spaces as well.
bool is_variant(std::string_view number) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !number.empty() && number.size() <= 3 && number.front() != '0' &&
         std::ranges::all_of(number, is_digit);
}

// ID[.VARIANT]<TAB>PATH
std::optional<std::string> path_in(std::string_view record) {
  const size_t tab = record.find('\t');
  if (tab == std::string_view::npos) return std::nullopt;
  const std::string_view conflict = record.substr(0, tab);
  const std::string_view path = record.substr(tab + 1);
  const size_t dot = conflict.find('.');
  const bool has_harmless_variant = dot == std::string_view::npos || is_variant(conflict.substr(dot + 1));
  if (!is_conflict_id(conflict.substr(0, dot)) || !has_harmless_variant || !is_path_of_git(path))
    return std::nullopt;
  return std::string(path);
}

}  // namespace

std::optional<std::vector<std::string>> paths_in_merge_rr(std::string_view text) {
  std::vector<std::string> paths;
  while (!text.empty()) {
    const size_t end = text.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    auto path = path_in(text.substr(0, end));
    if (!path) return std::nullopt;
    paths.push_back(*std::move(path));
    text.remove_prefix(end + 1);
  }
  return paths;
}

}  // namespace cloche
