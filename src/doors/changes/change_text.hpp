// A change set as text for a person: as `git diff` and `git diff --stat` show it, also outside a repository.
// What a person has to see stands first and is never summarised; what is left is bounded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "doors/changes/file_patch.hpp"
#include "doors/changes/shown_file.hpp"

namespace cloche {

struct DiffOptions {
  Colour colour = Colour::none;
  bool stat = false;                   // stat_text() instead of the patches
  size_t width = 80;                   // of stat
  size_t most_files = 200;             // of those that may be summarised: shown whole
  size_t most_bytes = 4 << 20;         // of their text
  size_t most_first_bytes = 16 << 20;  // of the groups before them; then each path with its header alone
  size_t most_stat_lines = 10'000;     // of those that may be summarised
  uint64_t work = 200'000'000;         // steps of the differ over all files
};

std::string diff_text(const std::vector<ShownChange>& files, const DiffOptions& options = {});
std::string stat_text(const std::vector<ShownChange>& files, const DiffOptions& options = {});

// The files whose contents diff_text() looks at, so that no others need be read: the first groups, and as
// many of the rest as are shown whole.
std::vector<size_t> files_shown_whole(const std::vector<ShownChange>& files, const DiffOptions& options = {});

}  // namespace cloche
