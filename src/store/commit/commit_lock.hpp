// One commit at a time in a tree: from the first look at what a call wrote to the last rename. Calls
// themselves run beside each other.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "model/change_set.hpp"

namespace cloche {

// Held until the descriptors are closed. Waits for other commits, which are short, and not for ever.
Result<std::vector<OwnedFd>> lock_commits(const std::string& state, const std::vector<ChangedTree>& trees);

}  // namespace cloche
