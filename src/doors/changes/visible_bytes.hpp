// Bytes of a call's files and names on the operator's terminal, every one of them visible. What a terminal
// would act on, what leaves no mark and what only looks like something else is written out: \u{202e} for a
// character, \x{ff} for a byte that is no UTF-8. A backslash that would read as one of ours is written as
// \u{5c}, so what is shown has one meaning.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cloche {

// What stands around a character that is written out; empty, or a colour.
struct EscapeMark {
  std::string_view begin = {};
  std::string_view end = {};
};

// One line: a newline in it is written out as well, a tab stays.
std::string visible_line(std::string_view line, const EscapeMark& mark = {});

// As git writes a path: as it is, or in double quotes with C's escapes and every byte outside printable ASCII
// as three octal digits, so that no letter of another script comes through.
std::string quoted_name(std::string_view name);
// The same, its front cut off where it is longer than `most` bytes: the end of a path says more.
std::string short_name(std::string_view name, size_t most);

// The name as the eye takes it: look-alikes as what they look like, what leaves no mark left out. A help for
// the eye, no wall: the table holds the letters that are used for it, not all that Unicode knows.
std::string skeleton(std::string_view name);
// For each path whether its name deceives: letters of ASCII mixed with look-alikes, characters that are not
// seen, or the skeleton of another path of the list.
std::vector<bool> deceiving_names(const std::vector<std::string_view>& paths);

}  // namespace cloche
