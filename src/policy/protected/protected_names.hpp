// The protected set: what something on the host executes later without being asked - hooks, start-up files,
// the settings of editors and agents. A sandboxed write there is an escape with a delay. share/protected.json
// is its one source; the table here is made from it at build time. What a command changes in git directories
// is judged by other rules, because a repository is known by what is in it, not only by the name .git
// (policy/protected/protected_directory.hpp).
//
// Names are matched one by one, from the root of a tree down, so that a walk never puts a path together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace cloche {

struct ProtectedName {
  std::string_view path;    // folded; counts at any depth, and covers everything beneath
  std::string_view reason;  // who executes it, and when
  int line = 0;             // in share/protected.json
};

// How far the way to a directory has come into rows of several components; mostly empty.
struct TrailStep {
  const ProtectedName* row;
  size_t depth;  // components passed
};
using Trail = std::vector<TrailStep>;

struct NameMatch {
  const ProtectedName* member = nullptr;  // the name ends a row: it is in the set
  Trail trail = {};                       // what it leads towards, for the names in it
};

// One name in a directory that was reached by `trail`.
NameMatch match_name(const Trail& trail, std::string_view name);

// Whether the name is the same when it is folded.
bool is_plain_name(std::string_view name);

// Of .git and below, in the order of the file; * and ? are within a name, ** is any number of components.
// They tell the file tools, which write nothing in .git, why.
std::span<const ProtectedName> protected_git_rows();

}  // namespace cloche
