// Cloche's own text for a person, on stdout and stderr.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cloche {

// Text from outside with everything that acts on a terminal or hides what it says written as \u{...}: lines
// and tabs stay in the first, and nothing but one line comes out of the second.
std::string visible(std::string_view text);
std::string on_one_line(std::string_view text);

void print(const std::string& text);  // to stdout, as it is
// The same for an answer that the caller relies on. Returns `exit_code`; when the text cannot be printed,
// says so on stderr and returns 125.
int print_all(const std::string& text, int exit_code);
void complain(const std::string& sentence);  // "cloche: ..." to stderr
void complain_notes(const std::vector<std::string>& notes);

// 2 for bad usage, 125 for a failure of Cloche.
int exit_code_of(const Error& error);
// Says it on stderr, and returns that code.
int report(const Error& error);

// Filled with blanks up to `width`, at least `gap` of them.
std::string padded(std::string_view text, size_t width, size_t gap = 2);

}  // namespace cloche
