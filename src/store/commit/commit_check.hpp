// Looks at every step of a commit before the first is taken. Changes nothing: a directory of the project that
// is closed to its owner is opened to look inside, and closed again before the check ends.
#pragma once

#include <sys/stat.h>

#include <span>
#include <vector>

#include "base/message.hpp"
#include "store/commit/commit.hpp"

namespace cloche {

// A new entry that bears attributes of overlay.
struct MarkedEntry {
  size_t tree = 0;
  std::string path = {};         // in the source
  bool is_marked_below = false;  // so does something beneath it
};

struct CheckedCommit {
  std::vector<Step> steps = {};  // with identities, and with steps for directories that have to be opened
  std::vector<MarkedEntry> marked = {};
  std::vector<Message> reasons = {};  // why it cannot be done; none: it can
};

CheckedCommit check_commit(std::span<const CommitTree> trees, std::vector<Step> steps);

// How an entry differs from what is expected there; empty: it does not.
std::string mismatch(int directory, const std::string& name, const struct stat& seen,
                     const FileState& expected);

FileState seen_state(const struct stat& seen);

}  // namespace cloche
