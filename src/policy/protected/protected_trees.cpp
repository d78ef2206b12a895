#include "policy/protected/protected_trees.hpp"

#include <algorithm>

#include "base/lists.hpp"
#include "base/sys/path.hpp"
#include "base/text/command_words.hpp"
#include "policy/plan/view_guards.hpp"
#include "policy/protected/protected_directory.hpp"

namespace cloche {
namespace {

bool writes_to_workspace(const RunRequest& request) {
  return request.profile != Profile::readonly && request.workspace_use == WorkspaceUse::shown;
}

// What lies in another is looked at with that, as far as one mount goes.
void add_root(std::vector<FileFact>& roots, const FileFact& added) {
  const auto is_in = [](const FileFact& one, const FileFact& other) {
    return is_beneath(other.path, one.path) && one.mount == other.mount;
  };
  if (std::ranges::any_of(roots, [&](const FileFact& root) { return is_in(added, root); })) return;
  std::erase_if(roots, [&](const FileFact& root) { return is_in(root, added); });
  roots.push_back(added);
}

}  // namespace

std::vector<FileFact> written_of_repository(const RunRequest& request, const Facts& facts) {
  if (!writes_to_workspace(request) || !facts.git_common) return {};
  std::vector<FileFact> written;
  for (const auto& place : facts.git_written) {
    const bool inside = is_beneath(facts.workspace.path, place.path);
    if (!inside && !view::is_own_file(facts, *facts.git_common) && !view::is_own_file(facts, place))
      written.push_back(place);
  }
  return written;
}

std::vector<std::string> guarded_roots(const RunRequest& request, const Facts& facts) {
  const FileFact& workspace = facts.workspace;
  bool holds_workspace = writes_to_workspace(request);
  std::vector<FileFact> others;
  for (const auto& place : written_of_repository(request, facts)) add_root(others, place);
  for (size_t i = 0; i < request.grants.size() && i < facts.grants.size(); ++i) {
    const FileFact& fact = facts.grants[i];
    // A single file was named for what it is.
    if (!request.grants[i].writable || fact.kind != FileFact::Kind::directory) continue;
    if (request.profile == Profile::readonly) continue;
    const bool inside = is_beneath(workspace.path, fact.path) && fact.mount == workspace.mount;
    holds_workspace = holds_workspace || inside;
    if (!inside) add_root(others, fact);
  }
  // The workspace is a tree of its own also in a wider one: what is at its top is at the top of a tree.
  std::vector<std::string> roots;
  if (holds_workspace) roots.push_back(workspace.path);
  for (auto& root : others) roots.push_back(std::move(root.path));
  return roots;
}

Result<std::vector<std::string>> allowed_paths(const std::vector<std::string>& named,
                                               const std::string& workspace,
                                               const std::vector<std::string>& roots) {
  std::vector<std::string> allowed;
  for (const auto& name : named) {
    const std::string path = tidied(workspace, name);
    const auto holds = [&](const std::string& root) { return is_beneath(root, path); };
    if (!is_beneath(workspace, path) && std::ranges::none_of(roots, holds))
      return refusal("--allow-protected " + name + " lies in nothing that the command can write to",
                     "name a path in the workspace, or grant the directory with --rw");
    allowed.push_back(path);
  }
  return allowed;
}

Result<void> judge_roots(const std::vector<std::string>& roots, const std::vector<std::string>& allowed) {
  for (const auto& root : roots) {
    const RootMeaning meaning = meaning_of_root(root);
    if (meaning.covered_by.empty() || is_allowed(allowed, root)) continue;
    return refusal(
        root + " is in the protected set (" + std::string(meaning.covered_by) +
            "), and a command could write there",
        "name another directory, or let go of this one with " + words_to_copy({"--allow-protected", root}));
  }
  return {};
}

Result<void> judge_executed_root(const std::string& root, bool is_executed,
                                 const std::vector<std::string>& allowed) {
  if (!is_executed || is_allowed(allowed, root)) return {};
  return refusal(
      "a configuration of git has it execute what is in " + root + ", and a command could write there",
      "name another directory, or let go of this one with " + words_to_copy({"--allow-protected", root}));
}

Result<void> judge_mounts_below(const std::vector<std::string>& roots,
                                const std::vector<std::string>& mount_points) {
  for (const auto& point : mount_points) {
    if (contains(roots, point)) continue;
    const auto holds = [&](const std::string& root) { return is_beneath(root, point); };
    const auto root = std::ranges::find_if(roots, holds);
    if (root == roots.end()) continue;
    return refusal(point + " is mounted in " + *root +
                       ", and a level without mounts of its own cannot keep it " + "from the command",
                   "grant it too with " + words_to_copy({"--rw", point}) +
                       ", unmount it, or take the isolation level namespace");
  }
  return {};
}

bool meets_allowed(const std::vector<std::string>& allowed, const std::string& path) {
  return std::ranges::any_of(
      allowed, [&](const std::string& other) { return is_beneath(other, path) || is_beneath(path, other); });
}

bool is_allowed(const std::vector<std::string>& allowed, const std::string& path) {
  return is_beneath_any(allowed, path);
}

}  // namespace cloche
