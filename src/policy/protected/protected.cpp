#include "policy/protected/protected.hpp"

#include <algorithm>

#include "base/sys/path.hpp"
#include "policy/protected/folded_name.hpp"
#include "policy/rules/globs.hpp"

namespace cloche {
namespace {

// Windows takes a backslash for a separator. A name that is nothing but what is dropped stays as it is: it is
// still a name here.
std::string slashed(std::string_view path) {
  std::string out(path);
  std::ranges::replace(out, '\\', '/');
  return out;
}

std::vector<std::string> folded_components(std::string_view path) {
  const std::string parts = slashed(path);
  std::vector<std::string> names;
  for (const auto& name : components_of(parts)) names.push_back(folded_name(name));
  return names;
}

// `names` begin with .git. The last row, .git itself, covers whatever the others do not.
const ProtectedName* find_in_git(const std::vector<std::string_view>& names) {
  for (const auto& row : protected_git_rows()) {
    const auto components = components_of(row.path);
    GlobComponents pattern(components.begin(), components.end());
    pattern.emplace_back("**");
    if (components_match(pattern, names)) return &row;
  }
  return nullptr;
}

}  // namespace

const ProtectedName* find_protected(std::string_view path) {
  const std::string parts = slashed(path);
  const auto folded = folded_components(path);
  auto name = folded.begin();
  NameMatch match;
  for (const auto& part : components_of(parts)) {
    match = match_name(match.trail, part);
    if (match.member != nullptr) return match.member;
    if (*name == ".git") return find_in_git({name, folded.end()});
    ++name;
  }
  return nullptr;
}

const ProtectedPart* find_part(const std::vector<ProtectedPart>& parts, std::string_view path) {
  const auto names = folded_components(path);
  for (const auto& part : parts) {
    const auto own = folded_components(part.path);
    if (own.size() <= names.size() && std::equal(own.begin(), own.end(), names.begin())) return &part;
  }
  return nullptr;
}

bool is_cloches_own(std::string_view path) {
  const auto names = folded_components(path);
  if (!names.empty() && names.front() == "tool_calls") return true;
  return std::ranges::any_of(
      names, [](const auto& name) { return name == ".cloche" || name.starts_with(commit_directory); });
}

}  // namespace cloche
