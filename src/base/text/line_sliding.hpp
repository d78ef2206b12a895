// Where runs of changed lines stand. In "x x" either may be the new one: the account is equally short, and
// one of them reads better.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace cloche {

// The lines of one text, and their numbers: equal lines have equal ones.
struct NumberedLines {
  const std::vector<std::string_view>& texts;
  const std::vector<size_t>& numbers;
};

// Moves each run of changed lines as far down as it goes; runs that meet become one. Better than that is
// where the other text has changed lines as well, so that removed and added lines stand together, and then
// where the run begins with a paragraph. What is kept stays the same sequence. `work` counts steps; past
// `most_work` the rest stays where it is.
void slide_changes(std::vector<bool>& changed, const NumberedLines& lines,
                   const std::vector<bool>& changed_in_other, uint64_t& work, uint64_t most_work);

}  // namespace cloche
