#include "base/text/near_word.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace cloche {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> above(b.size() + 1);  // of a without its last two letters, and then with one of them
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({row[j - 1] + 1, last[j] + 1, replaced});
      const bool is_exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_exchanged) row[j] = std::min(row[j], above[j - 2] + 1);
    }
    above = std::exchange(last, row);
  }
  return last[b.size()];
}

}  // namespace cloche
