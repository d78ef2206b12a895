// Bytes of a call's files and names on the operator's terminal, every one of them visible. What a terminal
// would act on, what leaves no mark and what only looks like something else is written out: \u{202e} for a
// character, \x{ff} for a byte that is no UTF-8. A backslash that would read as one of ours is written as
// \u{5c}, so what is shown has one meaning.
#pragma once

#include <string>
#include <string_view>

namespace cloche {

// What stands around a character that is written out; empty, or a colour.
struct EscapeMark {
  std::string_view begin = {};
  std::string_view end = {};
};

// One line: a newline in it is written out as well, a tab stays.
std::string visible_line(std::string_view line, const EscapeMark& mark = {});

// Where the blanks begin that end a line: its size, if there are none.
size_t trailing_blanks(std::string_view line);
// Blanks written out as \u{20} and \u{9}.
std::string written_blanks(std::string_view blanks);

// As git writes a path: as it is, or in double quotes with C's escapes and every byte outside printable ASCII
// as three octal digits, so that no letter of another script comes through.
std::string quoted_name(std::string_view name);
// The same, its front cut off where it is longer than `most` bytes: the end of a path says more.
std::string short_name(std::string_view name, size_t most);

}  // namespace cloche
