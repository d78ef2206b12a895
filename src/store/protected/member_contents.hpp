// What the members of the protected set in a tree hold, for file systems on which a change need not leave a
// time (store/protected/file_system_times.hpp). One look before the command and one after, both at every
// member there is; what holds the same as before is nobody's doing. This comes beside the look by times
// (store/ protected_walk.hpp), which also finds what is old and came to another name.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "store/protected/protected_walk.hpp"

namespace cloche {

// Of every file and link, by its path: its kind, its mode and what it holds or says. What is at the end of a
// link is a member of its own, as every lead's end is.
using Digests = std::map<std::string, std::string>;

struct ContentLimits {
  size_t files = 100'000;
  uint64_t bytes = uint64_t{256} << 20;
  size_t depth = 64;  // of directories in a member
};

struct Contents {
  std::vector<Suspect> members = {};  // every one, as if a command had made all of them
  Digests digests = {};               // of the files in them
  std::string gap = {};               // why they are not complete; empty: they are
  std::string memory = {};            // as LookAfter's
};

// `known` says which members are read-only to the command, which directories are not new, and which leads
// there are.
Contents contents_of_members(const HeldRoot& root, TreeFacts known, const LookLimits& limits,
                             std::string_view remembered = {}, const ContentLimits& bounds = {});

// Pure. Of the members those that hold something else than before: one that was not there at all as a whole,
// of others the files that differ.
std::vector<Suspect> changed_since(const Digests& before, const Contents& now);

// Pure. Those of `more` that are not found already, alone or with what they lie in.
void add_suspects(std::vector<Suspect>& found, const std::vector<Suspect>& more);

std::string text_of_digests(const Digests& digests);
Digests digests_in(std::string_view text);  // what is cut off is left out

}  // namespace cloche
