// A git worktree keeps its objects in the repository it was made from, and a submodule in the one that it is
// part of: outside the workspace.
#pragma once

#include <optional>
#include <vector>

#include "model/facts.hpp"

namespace cloche {

struct WorktreeGit {
  FileFact common;  // the git directory of the repository
  // What of it git writes for a commit in this worktree: objects, refs, logs and the worktree's own part; of
  // a submodule's all of it. Only real directories of the worktree's owner.
  std::vector<FileFact> written;
};

// Of a workspace that is a worktree, when the repository's own back-pointer names this workspace; or of a
// submodule's, when its configuration has its files in this workspace. The pointer in the workspace alone
// proves nothing: a command can write it.
std::optional<WorktreeGit> find_worktree_git(const FileFact& workspace);

}  // namespace cloche
