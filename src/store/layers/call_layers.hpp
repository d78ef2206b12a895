// The directories that a call's writes go to, one for each layered tree of its plan: `u`, the upper layer,
// and `w`, which the kernel needs beside it. They lie where the project's files can be reached by a rename,
// in no view, and outside every repository.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "model/change_set.hpp"
#include "model/plan.hpp"
#include "store/commit/change_sets.hpp"
#include "store/layers/change_clock.hpp"
#include "store/layers/conflicts.hpp"
#include "store/layers/layer_place.hpp"
#include "store/layers/overlay_attributes.hpp"

namespace cloche {

struct TreeLayer {
  ChangedTree tree;
  std::string target = {};     // where the command sees the tree
  std::string directory = {};  // of `u` and `w`
  size_t place = 0;            // which of the call's places it lies in
  uint64_t device = 0;         // of that directory
  uint64_t inode = 0;
  OwnedFd lower = {};  // the tree as the host has it, to be read
  OwnedFd upper = {};
};

// What a set in the store knows of a layer.
Result<StoredTree> stored_tree(const TreeLayer& layer);

// All of one call. They go with this object, unless what was written is to stay.
class CallLayers {
 public:
  // In fresh private directories: in Cloche's state where that is on the mount of the tree, else beside the
  // tree (layer_place.hpp). As root each belongs to the owner of its tree, because files get that owner in
  // it.
  static Result<CallLayers> make(const ConfinementPlan& plan, const std::string& state, bool privileged);

  CallLayers(CallLayers&& other) noexcept = default;
  CallLayers& operator=(CallLayers&& other) noexcept = default;
  CallLayers(const CallLayers&) = delete;
  CallLayers& operator=(const CallLayers&) = delete;
  ~CallLayers() = default;

  const std::vector<TreeLayer>& trees() const { return trees_; }
  // When the call began, on the clock of the trees' file system.
  const CallStart& start() const { return start_; }
  // The indexes of git as they were then.
  const std::vector<HeldIndex>& indexes() const { return indexes_; }
  // Which attributes the overlays of this caller have.
  OverlayAttributes attributes() const { return attributes_; }

  // Puts the directories where no later call removes them, for a set of that id. Their new places.
  Result<std::vector<KnownDirectory>> keep(const std::string& id);

 private:
  CallLayers() = default;
  Result<size_t> place_for(const ViewEntry& entry, const ConfinementPlan& plan, const std::string& state);

  std::vector<LayerPlace> places_ = {};
  OverlayAttributes attributes_ = OverlayAttributes::user_namespace;
  CallStart start_ = {};
  std::vector<TreeLayer> trees_ = {};
  std::vector<HeldIndex> indexes_ = {};
};

}  // namespace cloche
