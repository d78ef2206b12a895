// Whether a file that a command left behind in a repository can make git run anything: its configuration, and
// what a stopped rebase has yet to do. git init and git clone
// write one, so it cannot just be taken away; and dozens of keys name a program, with every version of git
// more of them, so what is known to be harmless is listed, and everything else is not.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cloche {

// The longest that is read; longer ones are not harmless.
inline constexpr size_t max_git_config_bytes = size_t{64} << 10;

// What of a configuration stands in the way, as it is written there: each entry, or line, exactly.
std::vector<std::string> dangers_in_git_config(std::string_view text);

// Nothing: every key is known to run nothing, or was in it `before`, which is the user's doing. Otherwise
// what stands in the way, for a sentence: a key that is not known, a line that cannot be read, or a character
// that git itself writes to none.
//
// core.worktree says where git checks files out: whether a value is harmless depends on where the repository
// is, so the caller says. Without `allows_worktree` none is.
using AllowsWorktree = std::function<bool(std::string_view value)>;
std::optional<std::string> danger_in_git_config(std::string_view text, const std::vector<std::string>& before,
                                                const AllowsWorktree& allows_worktree = {});

// The hash by which a repository with this configuration names its objects.
std::string object_format(std::string_view text);

// Where git of this host fetches from and pushes to without a network: paths, as git reads them.
std::vector<std::string> local_remotes(std::string_view text);

// The same of a .gitmodules, which names less: where a submodule is checked out, and how it is brought up to
// date. That can be a command, which git itself takes from a configuration alone, but older ones did not.
std::optional<std::string> danger_in_gitmodules(std::string_view text);
bool is_gitmodules(std::string_view name);

// What a git rebase, cherry-pick or revert that stopped has yet to do. Git itself writes it, and a user who
// says --continue runs the commands in it.
inline constexpr size_t max_rebase_todo_bytes = size_t{4} << 20;

// Whether one of its lines is a command: exec, or x for short.
bool has_exec_line(std::string_view todo);

// A strategy of merging is the program git-merge-NAME: from $PATH, but with a slash in its name from beneath
// the directory that git is in. In rebase-merge/strategy it is the text, in sequencer/opts a key.
bool is_strategy_by_path(std::string_view text);
bool has_strategy_by_path(std::string_view opts);

}  // namespace cloche
