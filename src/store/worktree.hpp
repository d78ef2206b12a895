// A git worktree keeps its objects in the repository it was made from, outside the workspace.
#pragma once

#include <optional>

#include "model/facts.hpp"

namespace cloche {

// The common git directory of a workspace that is a worktree, when that directory's own back-pointer names
// this workspace. The pointer in the workspace alone proves nothing: whatever runs in the sandbox can write
// it.
std::optional<FileFact> find_common_git(const FileFact& workspace);

}  // namespace cloche
