// What a git rebase, cherry-pick or revert that stopped has yet to do. Git itself writes it, and a user who
// says
// --continue runs the commands in it.
#pragma once

#include <cstddef>
#include <string_view>

namespace cloche {

inline constexpr size_t max_rebase_todo_bytes = size_t{4} << 20;

// Whether one of its lines is a command: exec, or x for short.
bool has_exec_line(std::string_view todo);

// A strategy of merging is the program git-merge-NAME: from $PATH, but with a slash in its name from beneath
// the directory that git is in. In rebase-merge/strategy it is the text, in sequencer/opts a key.
bool is_strategy_by_path(std::string_view text);
bool has_strategy_by_path(std::string_view opts);

}  // namespace cloche
