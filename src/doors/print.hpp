// How Cloche itself speaks to a person.
#pragma once

#include <string>
#include <string_view>

namespace cloche {

// Text from outside with everything that acts on a terminal or hides what it says written as \u{...}: lines
// and tabs stay in the first, and nothing but one line comes out of the second.
std::string visible(std::string_view text);
std::string on_one_line(std::string_view text);

void print(const std::string& text);  // to stdout, as it is
// The same for an answer that somebody relies on: `exit_code`, or 125 and a sentence when it could not be
// printed.
int print_all(const std::string& text, int exit_code);
void complain(const std::string& sentence);  // "cloche: ..." to stderr

}  // namespace cloche
