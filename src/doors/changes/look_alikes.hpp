// Characters and names that pass for others. A help for the eye that orders what is shown and marks it, no
// wall: the table holds the letters that are used for it, not all that Unicode knows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cloche {

// Whether a character outside ASCII looks like a letter, a digit or a sign of ASCII.
bool looks_like_ascii(unsigned code);

// The name as the eye takes it: look-alikes as what they look like, what leaves no mark left out. Names with
// one skeleton look the same.
std::string skeleton(std::string_view name);

// For each path whether its name deceives: letters of ASCII mixed with look-alikes, characters that are not
// seen, or the skeleton of another path of the list.
std::vector<bool> deceiving_names(const std::vector<std::string_view>& paths);

}  // namespace cloche
