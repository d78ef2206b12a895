// The list of what a git rebase has yet to do. Git itself writes it, and whoever says `git rebase --continue`
// runs the commands in it.
#pragma once

#include <cstddef>
#include <string_view>

namespace cloche {

inline constexpr size_t max_rebase_todo_bytes = size_t{4} << 20;

// Whether one of its lines is a command: exec, or x for short.
bool has_exec_line(std::string_view todo);

}  // namespace cloche
