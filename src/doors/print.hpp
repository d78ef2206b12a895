// How Cloche itself speaks to a person.
#pragma once

#include <string>

namespace cloche {

// Text from outside with every control character made harmless.
std::string visible(const std::string& text);

void print(const std::string& text);         // to stdout, as it is
void complain(const std::string& sentence);  // "cloche: ..." to stderr

}  // namespace cloche
