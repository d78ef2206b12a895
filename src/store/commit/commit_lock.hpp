// One commit at a time in a tree: from the first look at what a call wrote to the last rename. Calls
// themselves run beside each other. A tree that lies in another one, as the workspace of another session or a
// part of a linked worktree's repository, is one with it: the directories around a tree are locked as well,
// which any number of trees beside each other may share.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "model/change_set.hpp"

namespace cloche {

std::string commit_locks_of(const std::string& state);

// Held until the descriptors are closed. Waits for other commits, which are short, and not for ever.
Result<std::vector<OwnedFd>> lock_commits(const std::string& state, const std::vector<ChangedTree>& trees);

}  // namespace cloche
