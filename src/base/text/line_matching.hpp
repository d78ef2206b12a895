// The search behind line_diff.hpp: two sequences of numbers, and which of their elements have no counterpart.
#pragma once

#include <cstddef>
#include <cstdint>
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

}  // namespace cloche
