// Names of tools, and globs over them: * is any run of characters, ? any one of them.
#pragma once

#include <string>
#include <string_view>

namespace cloche {

bool is_glob(std::string_view pattern);
bool glob_matches(std::string_view pattern, std::string_view name);
// Letters, digits and _ - . : / @ with the two signs of a glob; not empty, at most 128 bytes.
bool is_tool_pattern(std::string_view pattern);
// Whether everything that `narrow` matches is surely matched by `wide`. May miss some; never errs.
bool glob_covers(std::string_view wide, std::string_view narrow);

// A name that the pattern matches: run_shell if it does.
std::string sample_name(std::string_view pattern);

}  // namespace cloche
