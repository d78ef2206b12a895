// Where a git configuration sends git for more: directories of hooks, further configurations, programs. What
// is there is as much to be kept from a command as the configuration itself. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cloche {

enum class PlaceKind {
  hooks,    // a directory, relative to the working tree
  config,   // a file of include or includeIf, whatever its condition; relative to who includes it
  program,  // a file that a key names with a slash; relative to the working tree
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

// `path` absolute: ~ is `home`, and what is relative is so to `base`. Empty when that cannot be told.
std::string place_from(std::string_view path, std::string_view base, std::string_view home);

}  // namespace cloche
