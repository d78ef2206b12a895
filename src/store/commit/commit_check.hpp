// Looks at every step of a commit before the first is taken. Changes nothing: a directory of the project that
// is closed to its owner is opened to look inside, and closed again before the check ends.
#pragma once

#include <sys/stat.h>

#include <span>
#include <vector>

#include "base/message.hpp"
#include "store/commit/commit.hpp"
#include "store/layers/layer_entry.hpp"

namespace cloche {

// The steps with identities, and with steps for directories that have to be opened; and the reasons why they
// cannot be taken. None: they can.
Committed check_commit(std::span<const CommitTree> trees, std::vector<Step> steps);

// How an entry differs from what is expected there; empty: it does not.
std::string mismatch(const LayerEntry& entry, const struct stat& seen, const FileState& expected);

Placed placed_as(const struct stat& seen);

}  // namespace cloche
