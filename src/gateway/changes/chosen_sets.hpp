// Which stored change sets a word of the operator's means, and which paths of them. Pure, but for where the
// current directory is.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "store/commit/stored_set.hpp"
#include "store/commit/undo.hpp"

namespace cloche {

// The workspace that the operator stands in.
struct WorkspaceHere {
  KnownDirectory directory = {};
  std::string below = {};  // the current directory, relative to it
};
// The nearest directory, from the current one upwards, that is the workspace of a set; of none: the current
// one.
Result<WorkspaceHere> workspace_here(const std::vector<SetHeader>& all, const std::string& current);

// Whether it takes back what a call did. What takes back such a set brings the call's changes back.
bool is_undo(const std::vector<SetHeader>& all, const SetHeader& set);

// "last": the newest set that changed the workspace, if there is one. A set's id. RUN/CALL, or CALL alone,
// the newest of that name here: all sets of that call. RUN: all sets of that run. `all` and the answer are
// newest first; an undo is meant by its id alone. `may_be_last` leaves sets out of "last".
using IsCandidate = std::function<bool(const SetHeader& set)>;
Result<std::vector<SetHeader>> choose_sets(const std::vector<SetHeader>& all, const std::string& word,
                                           const WorkspaceHere& here, const IsCandidate& may_be_last = {});

// Paths as the operator writes them: from the current directory, or absolute. A set of another workspace:
// from that workspace.
Result<std::vector<TreePath>> resolve_paths(const SetHeader& set, const std::vector<std::string>& written,
                                            const WorkspaceHere& here);

// Whether the change is at the path or beneath it.
bool is_meant(const TreePath& path, const Change& change);
bool is_meant(const std::vector<TreePath>& paths, const Change& change);

}  // namespace cloche
