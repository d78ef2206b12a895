// The look at a tree before anything is done there, with what earlier looks remember of it; and what it says
// about a file that a tool is about to write.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "model/facts.hpp"
#include "store/protected/protected_walk.hpp"

namespace cloche {

struct TreeQuery {
  const std::string& state;  // Cloche's own directory, where looks are remembered; empty: there is none
  const std::vector<std::string>& hidden;
  const GitSources& git;
};

// Of a tree that is larger than the look before the leads are found by a walk of its own, which passes what
// earlier looks found quiet.
Result<void> look_at_tree(const std::string& root, const TreeQuery& query, TreeFacts& found,
                          std::vector<OwnedFd>& held);

// Why the host would execute, or obey, what is written to `path` (relative to `root`, no link on it), though
// no name on the way says so: something leads there, or it lies in a git directory under any name, or it
// would make one. Empty: nobody knows of a reason.
Result<std::string> why_executed(const std::string& root, const std::string& path, const TreeQuery& query);

}  // namespace cloche
