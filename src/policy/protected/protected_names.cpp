#include "policy/protected/protected_names.hpp"

#include <algorithm>
#include <iterator>

#include "policy/protected/folded_name.hpp"
#include "policy/rules/globs.hpp"

namespace cloche {
namespace {

// rows: sorted by their first component, for the search below. globs: what no search by letters finds, one
// name each. git_rows: of .git and below.
#include "policy/protected_names.inc"

constexpr std::string_view first_of(std::string_view path) { return path.substr(0, path.find('/')); }

constexpr bool comes_before(const ProtectedName& a, const ProtectedName& b) {
  return first_of(a.path) < first_of(b.path);
}
static_assert(std::ranges::is_sorted(rows, comes_before));

// The component of a row's path that follows `depth` others; empty: there is none.
std::string_view component(const ProtectedName& row, size_t depth) {
  std::string_view rest = row.path;
  for (; depth > 0; --depth) {
    const size_t slash = rest.find('/');
    if (slash == std::string_view::npos) return {};
    rest.remove_prefix(slash + 1);
  }
  return first_of(rest);
}

void step_into(NameMatch& match, const ProtectedName& row, size_t depth) {
  if (component(row, depth).empty()) {
    match.member = &row;
  } else {
    match.trail.push_back({&row, depth});
  }
}

void match_globs(NameMatch& match, std::string_view name) {
  for (const auto& row : globs) {
    if (match.member == nullptr && glob_matches(row.path, name)) match.member = &row;
  }
}

// The name is folded, and one component.
NameMatch match_folded(const Trail& trail, std::string_view name) {
  NameMatch match;
  for (const auto& step : trail) {
    if (component(*step.row, step.depth) == name) step_into(match, *step.row, step.depth + 1);
  }
  const auto [first, last] =
      std::equal_range(std::begin(rows), std::end(rows), ProtectedName{name, {}}, comes_before);
  for (const auto* row = first; row != last; ++row) step_into(match, *row, 1);
  match_globs(match, name);
  return match;
}

}  // namespace

bool is_plain_name(std::string_view name) {
  const auto is_plain = [](char c) {
    return c >= ' ' && c < 0x7f && !(c >= 'A' && c <= 'Z') && c != ':' && c != '\\';
  };
  return std::ranges::all_of(name, is_plain) && !name.ends_with('.') && !name.ends_with(' ');
}

NameMatch match_name(const Trail& trail, std::string_view name) {
  if (is_plain_name(name)) return match_folded(trail, name);
  // Windows takes a backslash for a separator: such a name is a way of several steps.
  NameMatch match{nullptr, trail};
  for (std::string_view rest = name; !rest.empty() && match.member == nullptr;) {
    const size_t end = std::min(rest.find('\\'), rest.size());
    if (end > 0) match = match_folded(match.trail, folded_name(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  // What Windows drops is a part of the name here, and a glob may be about that part.
  for (const auto& form : forms_of_name(name)) match_globs(match, form);
  return match;
}

std::span<const ProtectedName> protected_git_rows() { return git_rows; }

}  // namespace cloche
