// One change as `git diff` shows it, every byte visible. Lines of contents begin with a blank, +, - or a
// backslash, so no file can write a line that reads as one of ours.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/text/line_diff.hpp"
#include "doors/changes/shown_file.hpp"
#include "doors/cli/screen.hpp"

namespace cloche {

enum class PatchDepth { whole, header };  // header: what changed without the contents

// With colours blanks that end a line are marked too. `work` is what the differ may still spend on all files;
// what it spent is taken from it.
std::string file_patch(const ShownChange& file, PatchDepth depth, Colour colour, uint64_t& work);

// The notice of a withheld or asked change, without a newline: "withheld: ..."; empty for any other.
std::string verdict_line(const ShownChange& file);

// What stat counts: the lines, or why there are none to count.
struct ContentsDiff {
  enum class Kind { none, lines, binary, too_large } kind = Kind::none;
  LineDiff lines = {};  // views into the file's bytes
};
ContentsDiff contents_diff(const ShownChange& file, uint64_t& work);

// "1.2 KiB -> 3.4 KiB"; the side that is not there is "none".
std::string sizes_text(const Change& change);

}  // namespace cloche
