// The two halves of line_diff.hpp: which elements of two sequences of numbers have no counterpart, and where
// runs of changed lines stand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace cloche {

struct LineMatching {
  std::vector<bool> removed = {};  // of the first sequence: no counterpart in the second
  std::vector<bool> added = {};    // of the second. What is left of both is equal, in order
  uint64_t work = 0;
  bool is_minimal = true;
};

// `most_work` bounds the steps of the whole, `most_differences` the differences that are searched for in one
// part.
LineMatching match_lines(const std::vector<size_t>& before, const std::vector<size_t>& after,
                         uint64_t most_work, size_t most_differences);

// The lines of one text, and their numbers: equal lines have equal ones.
struct NumberedLines {
  const std::vector<std::string_view>& texts;
  const std::vector<size_t>& numbers;
};

// In "x x" either may be the new one: the account is equally short, and one of them reads better. So this
// moves each run of changed lines as far down as it goes; runs that meet become one. Better than that is
// where the other text has changed lines as well, so that removed and added lines stand together, and then
// where the run begins with a paragraph. What is kept stays the same sequence. `work` counts steps; past
// `most_work` the rest stays where it is.
void slide_changes(std::vector<bool>& changed, const NumberedLines& lines,
                   const std::vector<bool>& changed_in_other, uint64_t& work, uint64_t most_work);

}  // namespace cloche
