// What the host, or another call, changed in the project since a call began, where the call's change set
// would overwrite or delete it. The list of changes was read from the lower layer just now; what moved since
// it was read is a conflict as well.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "model/change_set.hpp"
#include "store/layers/change_clock.hpp"
#include "store/layers/layer_reader.hpp"

namespace cloche {

struct Conflict {
  size_t tree = 0;
  std::string path = {};
  std::string what = {};  // a sentence's end for the operator: one of these, but for an undo

  bool operator==(const Conflict&) const = default;
};

namespace conflict {
inline constexpr std::string_view changed = "was changed since the call began";
inline constexpr std::string_view created = "was created since the call began";
inline constexpr std::string_view deleted = "was deleted since the call began";
inline constexpr std::string_view directory_replaced =
    "was replaced, or had its mode changed, since the call began";
inline constexpr std::string_view open_for_writing = "is open for writing in a process outside the call";
inline constexpr std::string_view clock_was_set = "may have been changed: the clock was set during the call";
inline constexpr std::string_view unreadable = "cannot be looked at";
}  // namespace conflict

// An index of git, held since before the call began. Git replaces the file, so that the old one stays as it
// was: what the host did to it meanwhile can be told from what it was.
struct HeldIndex {
  size_t tree = 0;
  std::string path = {};
  OwnedFd file = {};
};
// One at `path` of the lower layer; a descriptor that is not valid where there is none.
HeldIndex hold_index(size_t tree, int lower, const std::string& path);

// None: the set can be committed. In the order of the set, each path once; where a directory on the way is
// the conflict, its path.
Result<std::vector<Conflict>> find_conflicts(std::span<const TreeLayers> trees, const ChangeSet& set,
                                             const CallStart& start, std::span<const HeldIndex> indexes = {});

// After a commit that met something in its way: brings up to date in the set what the host's git has only
// noted anew in its index since the set was read.
enum class IndexesNow {
  none,       // the set changes no index, or the host did more to one
  as_read,    // by their looks: times of files are coarse
  refreshed,  // at least one
};
IndexesNow take_refreshed_indexes(std::span<const TreeLayers> trees, ChangeSet& set, const CallStart& start,
                                  std::span<const HeldIndex> indexes);

}  // namespace cloche
