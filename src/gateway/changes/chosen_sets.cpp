#include "gateway/changes/chosen_sets.hpp"

#include <algorithm>

#include "base/sys/path.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

const SetHeader* find_id(const std::vector<SetHeader>& all, const std::string& id) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const SetHeader& set) { return set.id == id; });
  return found == all.end() ? nullptr : &*found;
}

// The calls that a set is of: the one that it began with, and those that went on from it.
template <typename Matches>
bool is_of_call(const SetHeader& set, const Matches& matches) {
  return set.undoes.empty() &&
         (matches(set.label) || std::any_of(set.later.begin(), set.later.end(), matches));
}

std::vector<SetHeader> with_label(const std::vector<SetHeader>& all, const std::string& label) {
  std::vector<SetHeader> found;
  for (const SetHeader& set : all) {
    if (is_of_call(set, [&](const std::string& one) { return one == label; })) found.push_back(set);
  }
  return found;
}

std::vector<SetHeader> choose_last(const std::vector<SetHeader>& all, const WorkspaceHere& here,
                                   const IsCandidate& may_be_last) {
  for (const SetHeader& set : all) {
    if (!is_same_directory(set.workspace, here.directory)) continue;
    if (set.status != SetStatus::committed || is_undo(all, set)) continue;
    if (!may_be_last || may_be_last(set)) return {set};
  }
  return {};
}

}  // namespace

bool is_undo(const std::vector<SetHeader>& all, const SetHeader& set) {
  bool is_one = false;
  const SetHeader* at = &set;
  for (size_t steps = 0; at != nullptr && !at->undoes.empty() && steps <= all.size(); ++steps) {
    is_one = !is_one;
    at = find_id(all, at->undoes);
  }
  return is_one;
}

Result<WorkspaceHere> workspace_here(const std::vector<SetHeader>& all, const std::string& current) {
  KnownDirectory self = TRY(know_directory(current));
  std::string directory = current;
  for (;;) {
    const auto known = know_directory(directory);
    if (!known.ok()) break;
    const bool is_workspace = std::any_of(all.begin(), all.end(), [&](const SetHeader& one) {
      return is_same_directory(one.workspace, known.value());
    });
    if (is_workspace) {
      const size_t begin = directory == "/" ? 1 : std::min(current.size(), directory.size() + 1);
      return WorkspaceHere{known.value(), current.substr(begin)};
    }
    if (directory == "/") break;
    directory = std::string(parent_of(directory));
  }
  return WorkspaceHere{std::move(self), ""};
}

Result<std::vector<SetHeader>> choose_sets(const std::vector<SetHeader>& all, const std::string& word,
                                           const WorkspaceHere& here, const IsCandidate& may_be_last) {
  if (word == "last") return choose_last(all, here, may_be_last);
  if (const SetHeader* const set = find_id(all, word)) return std::vector<SetHeader>{*set};
  std::vector<SetHeader> found = with_label(all, word);
  if (!found.empty()) return found;
  for (const SetHeader& set : all) {
    std::string label;
    const auto is_word = [&](const std::string& one) {
      if (one.ends_with("/" + word)) label = one;
      return !label.empty();
    };
    if (is_of_call(set, is_word) && is_same_directory(set.workspace, here.directory))
      return with_label(all, label);
  }
  for (const SetHeader& set : all) {
    if (set.label.starts_with(word + "/") && set.undoes.empty()) found.push_back(set);
  }
  if (!found.empty()) return found;
  return refusal("no change set, call or run is called '" + shown(word) + "'",
                 "cloche changes lists those of this workspace, with --all those of every workspace; a path "
                 "stands behind a set, as in: last PATH");
}

Result<std::vector<TreePath>> resolve_paths(const SetHeader& set, const std::vector<std::string>& written,
                                            const WorkspaceHere& here) {
  std::string directory = set.workspace.path;
  if (is_same_directory(set.workspace, here.directory) && !here.below.empty()) directory += "/" + here.below;
  std::vector<TreePath> paths;
  for (const std::string& word : written) {
    const std::string absolute = tidied(directory, word);
    // The innermost tree: what is seen there lies in its layer.
    std::optional<TreePath> best;
    size_t longest = 0;
    for (size_t i = 0; i < set.trees.size(); ++i) {
      const std::string& root = set.trees[i].project.path;
      if (!is_beneath(root, absolute) || (best && root.size() < longest)) continue;
      const size_t begin = root == "/" ? 1 : std::min(absolute.size(), root.size() + 1);
      best = TreePath{i, absolute.substr(begin)};
      longest = root.size();
    }
    if (!best)
      return refusal("'" + shown(word) + "' is in none of the directories that the change set " + set.id +
                     " is of");
    paths.push_back(std::move(*best));
  }
  return paths;
}

bool is_meant(const TreePath& path, const Change& change) {
  return change.tree == path.tree && is_at_or_below(path.path, change.path);
}

bool is_meant(const std::vector<TreePath>& paths, const Change& change) {
  return std::any_of(paths.begin(), paths.end(),
                     [&](const TreePath& path) { return is_meant(path, change); });
}

}  // namespace cloche
