// How much a commit will keep for its undo: what it replaces and removes. Build products and packages, which
// a .gitignore covers, are counted apart, so that they do not push out what a person wrote.
#pragma once

#include <span>
#include <vector>

#include "store/commit/stored_set.hpp"

namespace cloche {

// Reads .gitignore files of the project, which has not been changed yet; where little is kept, none: then
// all of it counts as plain.
KeptBytes count_kept_bytes(const ChangeSet& set, const std::vector<ChangeVerdict>& verdicts,
                           std::span<const CommitTree> trees);

}  // namespace cloche
