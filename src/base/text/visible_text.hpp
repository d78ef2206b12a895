// Characters that act on the reader instead of being read, and text with them made plain. One table
// for what a command may hold and for what reaches a terminal.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace cloche {

struct CodeRange {
  unsigned first;
  unsigned last;
};
// The ranges are sorted.
template <size_t n>
bool is_among(const CodeRange (&ranges)[n], unsigned code) {
  const auto* range = std::ranges::upper_bound(ranges, code, {}, &CodeRange::first);
  return range != std::begin(ranges) && code <= std::prev(range)->last;
}

bool is_control(unsigned code);
// Characters that make text read differently from what it is: a person who approves it would not see them.
bool turns_text_around(unsigned code);
// Unicode's format characters that leave no mark, and a few others that do not either. Not these: the two
// joiners and the variation selectors, which emoji and several scripts need, and the format characters of
// Arabic, Syriac, Kaithi and hieroglyphs, which can be seen.
bool is_invisible(unsigned code);
bool is_joiner(unsigned code);

// "\u{1b}", for a character that is not shown as it is.
std::string written_out(unsigned code, char kind = 'u');

// For sentences about text from outside: what is not visible is written as \u{...}, and the rest is cut
// off. So is a joiner that has nothing to join: beside a letter of ASCII it only makes one name look like
// another.
std::string shown(std::string_view text, size_t most = 300);

}  // namespace cloche
