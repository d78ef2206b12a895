// Where a git configuration sends git for more: directories of hooks, further configurations, programs. What
// is there is as much to be kept from a command as the configuration itself. Pure.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cloche {

enum class PlaceKind {
  hooks,       // a directory, relative to the working tree
  config,      // a file of include or includeIf, whatever its condition; relative to who includes it
  program,     // a file that a key names with a slash; relative to the working tree
  repository,  // the git directory itself, where another file says which it is
};

struct ExecutedPlace {
  std::string path;  // as git reads it
  PlaceKind kind = PlaceKind::hooks;
  bool operator==(const ExecutedPlace&) const = default;
};

struct SaidPlaces {
  std::vector<ExecutedPlace> places = {};
  std::string working_tree = {};  // core.worktree, relative to the git directory; empty: it is not said
  bool operator==(const SaidPlaces&) const = default;
};

// Up to where git would give up. Of several values all count, not only the last: which of them git obeys
// depends on files that are not here.
SaidPlaces places_said(std::string_view git_config);

// Where the home directory of a user is, of the caller when there is no name; empty: not known.
using HomeOf = std::function<std::string(std::string_view user)>;

// By the text of /etc/passwd.
std::string home_in_passwd(std::string_view text, std::string_view user);

// `path` absolute: ~ is a home, and what is relative is so to `base`. Empty when that cannot be told.
std::string place_from(std::string_view path, std::string_view base, const HomeOf& home_of);

// Files of git's that hold a path after a key (`.git` of a checkout) or nothing but a path (`commondir`,
// `gitdir`).
inline constexpr size_t longest_pointer = 8192;

// That path, absolute: what is relative is so to `base`. Empty: there is none.
std::string pointer_in(std::string_view text, std::string_view key, const std::string& base);

}  // namespace cloche
