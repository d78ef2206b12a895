#include "policy/changes/change_rules.hpp"

#include <algorithm>

namespace cloche {

bool ChangeRule::matches(const ChangeSet& set, const Change& change) const {
  if (!kinds.empty() && std::find(kinds.begin(), kinds.end(), change.kind) == kinds.end()) return false;
  if (paths.empty()) return true;
  const auto matches_any = [&](const std::string& path) {
    return std::any_of(paths.begin(), paths.end(), [&](const PathGlob& glob) { return glob.matches(path); });
  };
  if (matches_any(change.path)) return true;
  return change.tree < set.trees.size() && matches_any(set.trees[change.tree].path + "/" + change.path);
}

std::vector<uint64_t> count_matches(const ChangeSet& set, const std::vector<ChangeRule>& rules) {
  std::vector<uint64_t> counts(rules.size(), 0);
  for (const auto& change : set.changes) {
    for (size_t i = 0; i < rules.size(); ++i) counts[i] += rules[i].matches(set, change) ? 1 : 0;
  }
  return counts;
}

}  // namespace cloche
