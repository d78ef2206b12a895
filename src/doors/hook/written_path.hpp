// A path as an agent wrote it. Agents trim paths, expand ~ and normalise letters before they open a path,
// each in its own way. A path that could change its meaning so is refused here; the others mean the same to
// every program. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cloche {

// Without the white space at both ends, whatever any agent's language counts as such.
std::string_view without_space_around(std::string_view text);

// An Error says what is wrong with it and how to write it.
Result<void> check_written_path(std::string_view path);

// Where a glob begins to look: its names before the first that is a pattern, with the slash before them where
// there is one. "src/**/*.cpp" is "src", "**" is "", "/etc/*" is "/etc". An Error for a glob that goes up, or
// that begins as no path may.
Result<std::string> where_glob_begins(std::string_view glob);

// The files that a patch of Codex's names, in their order. Codex trims lines before it looks for headers.
// Here a line that Codex could take for a header is written exactly as one, or the patch is refused.
Result<std::vector<std::string>> files_of_patch(std::string_view patch);

// Whether a text is in Unicode's composed form (NFC) already, into which agents bring paths: é as one letter,
// and not as e with a mark behind it. In doubt, and of what is no UTF-8, the answer is no.
bool is_composed(std::string_view text);

}  // namespace cloche
