// Which lines two texts have in common, and the rest as hunks: what `diff -u` and git show. The texts are
// bytes from anywhere, so the work is bounded: beyond the bound the part that is left is all removed and all
// added, which is still a true account of the change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cloche {

enum class LineFate { kept, removed, added };

// A line of one of the two texts, which outlive it.
struct DiffLine {
  LineFate fate = LineFate::kept;
  std::string_view text;    // without its newline
  bool has_newline = true;  // only the last line of a text can be without

  bool operator==(const DiffLine&) const = default;
};

// Changes that stand close together, with the lines around them.
struct Hunk {
  size_t before_first = 0;  // index of the first line, from 0
  size_t before_count = 0;
  size_t after_first = 0;
  size_t after_count = 0;
  std::string_view heading = {};  // as git does: the last line above that begins with a letter, _ or $
  std::vector<DiffLine> lines = {};
};

struct LineDiff {
  std::vector<Hunk> hunks = {};
  uint64_t removed = 0;  // lines
  uint64_t added = 0;
  uint64_t work = 0;       // steps that were spent
  bool is_minimal = true;  // false: a bound was reached, and a shorter account may exist
};

struct DiffBounds {
  size_t context = 3;          // kept lines around a change
  uint64_t work = 30'000'000;  // steps, each a few nanoseconds
  size_t differences = 1'500;  // within one part: beyond it the part is cut where the search had come to
};

LineDiff diff_lines(std::string_view before, std::string_view after, const DiffBounds& bounds = {});

// "@@ -1,3 +1,4 @@ heading", without a newline.
std::string hunk_header(const Hunk& hunk);

// The hunks with every byte as it is: for programs. A person is shown doors/changes/change_text.hpp.
std::string unified_text(const LineDiff& diff);

inline constexpr std::string_view no_newline_mark = "\\ No newline at end of file";

}  // namespace cloche
