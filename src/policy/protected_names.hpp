// The protected set as it is compiled into the programs, for whoever looks at a tree after a command: the
// front has no time to read share/protected.json. A test keeps the two equal. What lies in git directories is
// not here: a repository is known by what is in it, not only by the name .git
// (policy/protected_directory.hpp).
//
// Names are matched one by one, from the root of a tree down, so that a walk never puts a path together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace cloche {

struct ProtectedName {
  std::string_view path;    // folded; counts at any depth, and covers everything beneath
  std::string_view reason;  // who executes it, and when
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

// Of the whole table: whoever remembers what it said asks whether it still is the same one.
uint64_t revision_of_protected_names();

// All of it, for tests.
std::vector<ProtectedName> protected_names();

}  // namespace cloche
