// A change as a person is shown it, and the order of many: what a person has to see stands first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/change_set.hpp"

namespace cloche {

struct ShownChange {
  std::string path;  // bytes: relative to the workspace, or absolute in another tree
  Change change;
  ChangeVerdict verdict;
  std::optional<std::string> before = {};  // the bytes of a file; absent: too large, or no file
  std::optional<std::string> after = {};
  bool ignored = false;  // by a .gitignore
  bool hidden = false;   // by the operator's key `hide`: its contents are not read
};

// In the order in which they are shown. All but the last are never summarised.
enum class ShownGroup {
  withheld,     // or an operator has to say
  executable,   // a file that can be run, and is new or changed
  link,         // new or changed
  permissions,  // mode, owner, access control lists, special files
  look_alike,   // a name that passes for another
  other,
};
std::string_view name_of(ShownGroup group);  // as a note behind a path; of other: empty

// The changes with their verdicts, which are in the same order; without contents. Paths of the first tree are
// relative to it.
std::vector<ShownChange> shown_files(const ChangeSet& set, const std::vector<ChangeVerdict>& verdicts);

struct ShownPlace {
  size_t index = 0;  // of the list
  ShownGroup group = ShownGroup::other;
};

// By group, then by path. A directory that came or went with what is in it is left out: those paths say it.
std::vector<ShownPlace> display_order(const std::vector<ShownChange>& files);

ChangeCounts count(const std::vector<ShownChange>& files);

}  // namespace cloche
