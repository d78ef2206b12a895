// Git's MERGE_RR: the conflicts that `git rerere` waits to see resolved. Git copies what is at each path in
// it to .git/rr-cache, and writes there what it remembers, through links as well. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cloche {

// The longest that is judged: thousands of conflicts.
inline constexpr size_t max_merge_rr_bytes = size_t{1} << 20;

// The paths in it, from the top of the working tree. Nothing: it is not written as git writes one, or has a
// path that git itself would add to no index.
std::optional<std::vector<std::string>> paths_in_merge_rr(std::string_view text);

}  // namespace cloche
