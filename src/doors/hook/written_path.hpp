// A path of an agent's as it is written and as the agent may read it. Agents trim paths, take ~ for a home
// and tidy what they are given before they open it, each in its own way; so a path that could come to mean
// something else on the way is refused here, and what is left means the same to everybody. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cloche {

// Without the white space at both ends, whatever any agent's language counts as such.
std::string_view without_space_around(std::string_view text);

// An Error says what is wrong with it and how it would do.
Result<void> check_written_path(std::string_view path);

// Where a glob begins to look: its names before the first that is a pattern, with the slash before them where
// there is one. "src/**/*.cpp" is "src", "**" is "", "/etc/*" is "/etc". An Error for a glob that goes up, or
// that begins as no path may.
Result<std::string> where_glob_begins(std::string_view glob);

}  // namespace cloche
