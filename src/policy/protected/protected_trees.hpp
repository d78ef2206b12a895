// Which trees are looked at for the protected set, and what in them the operator has let go of.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/facts.hpp"
#include "model/run_request.hpp"

namespace cloche {

// The directories that the request lets a command write to; the workspace first, and it is one of its own
// also where a wider tree was granted. Of the others none lies within another of the same mount, which no
// look crosses. What was granted within the workspace counts as the workspace: by its names from there it is
// in the set or not.
std::vector<std::string> guarded_roots(const RunRequest& request, const Facts& facts);

// What of the repository that the workspace is a worktree or submodule of the command may write, so that git
// commits. Not what is one of Cloche's own files, and not what lies where it can write anyway.
std::vector<FileFact> written_of_repository(const RunRequest& request, const Facts& facts);

// What --allow-protected names, absolute: relative to the workspace, or within one of the roots.
Result<std::vector<std::string>> allowed_paths(const std::vector<std::string>& named,
                                               const std::string& workspace,
                                               const std::vector<std::string>& roots);

// A tree that is itself in the protected set, as a workspace named .vscode is: all of it would have to be
// kept from the command, so the operator has to let go of it.
Result<void> judge_roots(const std::vector<std::string>& roots, const std::vector<std::string>& allowed);

// Likewise of one that git executes as a whole because a configuration around it says so.
Result<void> judge_executed_root(const std::string& root, bool is_executed,
                                 const std::vector<std::string>& allowed);

// Without mounts of its own a level shows what the host has mounted in a tree, and a look does not go there.
// It has to be granted as a tree of its own.
Result<void> judge_mounts_below(const std::vector<std::string>& roots,
                                const std::vector<std::string>& mount_points);

// Whether the path is allowed, or holds something that is.
bool meets_allowed(const std::vector<std::string>& allowed, const std::string& path);
// Whether it is allowed itself.
bool is_allowed(const std::vector<std::string>& allowed, const std::string& path);

}  // namespace cloche
