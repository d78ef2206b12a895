// Reads what a call wrote from the upper layers of its overlays into a ChangeSet. Only when the overlays are
// gone: until then the call can still write.
//
// The walk is a list of directories that wait to be read, each opened from the top of its layer, so that a
// deep tree costs neither stack nor descriptors. A directory that the call closed is opened to its owner in
// the upper layer, which is private; the mode that the call gave it is in the set, and in an attribute of the
// directory, so that a second reading finds it. The lower layer is the project: nothing in it is changed.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/change_set.hpp"
#include "store/layers/overlay_attributes.hpp"

namespace cloche {

// A tree of the call. The descriptors are of directories and borrowed.
struct TreeLayers {
  ChangedTree tree;
  int lower = -1;
  int upper = -1;
  OverlayAttributes attributes = OverlayAttributes::user_namespace;
  // Where the upper directory has what is at a path. Empty: at that path; what undo keeps lies under numbers.
  std::function<std::string(const std::string& path)> place_of = {};
};

struct ReadLimits {
  uint64_t entries = 1'000'000;           // looked at, in both layers
  unsigned depth = 2000;                  // directories on the way to one
  uint64_t compared_bytes = 16ULL << 30;  // of files that were copied up and have their old size
  uint64_t until_ms = ~uint64_t{0};       // by sys::monotonic_ms()
};

// Why a list may not be exact. A set with one of them is staged, not committed.
enum class ReadProblem {
  too_many_entries,
  too_deep,
  too_much_to_compare,
  too_slow,
  upper_attribute,   // of the overlay's, and one that our mounts never write: the upper layer is not what it
                     // seems
  lower_attribute,   // of the overlay's, on a file of the project: the call did not see the project as it is
  lower_unreadable,  // the call saw it, and we cannot
  upper_unreadable,
};
std::string_view name_of(ReadProblem problem);

struct ReadFinding {
  ReadProblem problem = ReadProblem::upper_unreadable;
  size_t tree = 0;
  std::string path = {};
  std::string what = {};  // the attribute, the limit, or what the kernel said
};

struct ReadChanges {
  ChangeSet set = {};
  std::vector<ReadFinding> findings = {};  // after the first that is a limit nothing more was read

  bool is_exact() const { return findings.empty(); }
};

// An Error: the walk itself could not go on, for instance because no descriptor was left.
Result<ReadChanges> read_changes(std::span<const TreeLayers> trees, const ReadLimits& limits);

// Gives the directories that the reading opened the mode again that the call gave them: from here on the
// upper layers are what the set says of them.
Result<void> close_directories(std::span<const TreeLayers> trees, const ChangeSet& set);

}  // namespace cloche
