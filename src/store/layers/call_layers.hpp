// The directories that a call's writes go to, one for each layered tree of its plan: `u`, the upper layer,
// and `w`, which the kernel needs beside it. They lie in no view, and in no project.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "model/change_set.hpp"
#include "model/plan.hpp"
#include "policy/gates/approval.hpp"
#include "store/commit/change_sets.hpp"
#include "store/layers/change_clock.hpp"
#include "store/layers/conflicts.hpp"
#include "store/layers/layer_place.hpp"
#include "store/layers/overlay_attributes.hpp"

namespace cloche {

struct TreeLayer {
  ChangedTree tree;
  std::string target = {};        // where the command sees the tree
  KnownDirectory directory = {};  // of `u` and `w`
  OwnedFd lower = {};             // the tree as the host has it, to be read
  OwnedFd upper = {};
};

// What Cloche itself put into a layer (approved_files.cpp).
struct PlacedEntry {
  size_t tree = 0;
  std::string path = {};
  struct stat seen = {};  // when it was complete
};

// Gives an entry of an upper layer the owner, mode and attributes of the project's.
Result<void> copy_entry_state(int lower, int upper, const std::string& name, const struct stat& seen);

// All of one call. They go with this object, unless what was written is to stay.
class CallLayers {
 public:
  // In a fresh private directory (layer_place.hpp). As root each belongs to the owner of its tree, because
  // files get that owner in it.
  // What a killed call left half committed has been finished or taken back by then (finish_interrupted()).
  // `task`: what is staged of that task is what the call sees and writes to; empty: it is no call of a task.
  static Result<CallLayers> make(const ConfinementPlan& plan, const std::string& state, bool privileged,
                                 const std::string& task = {});

  CallLayers(CallLayers&& other) noexcept = default;
  CallLayers& operator=(CallLayers&& other) noexcept = default;
  CallLayers(const CallLayers&) = delete;
  CallLayers& operator=(const CallLayers&) = delete;
  ~CallLayers() = default;

  const std::vector<TreeLayer>& trees() const { return trees_; }
  // When the call began, on the clocks of the trees' file systems.
  const CallStart& start() const { return start_; }
  // The indexes of git as they were then.
  const std::vector<HeldIndex>& indexes() const { return indexes_; }
  // Which attributes the overlays of this caller have.
  OverlayAttributes attributes() const { return attributes_; }

  // Before the start: what an approval covers, as it is in the project now; an Error where that is not what
  // was approved. What has no hash was not there.
  Result<void> put_approved(std::span<const ExecutedFile> approved);
  // After the end: what of it the call left as it was is no change of the call.
  void take_back_approved();

  // Where those of other calls are (layer_place.hpp).
  const std::string& root() const { return place_.root(); }

  // Where this path is by now: the host may have renamed a tree, or a directory around it, while the call
  // ran. The trees are known by what is held of them, and from here on by their new paths.
  std::string find_moved(const std::string& path);

  // What a set of that id has to know of the directories, and then: puts them where no later call removes
  // them.
  Result<void> describe_kept(SetHeader& header) const;
  Result<void> keep(const std::string& id);

  // The set that was staged before the call and that its writes went to; nothing: they are a set of their
  // own.
  std::optional<SetInWork>& continued() { return continued_; }
  // Of what is staged of the task and the call does not see all the same: why. Empty: there is none.
  const std::string& left_out() const { return left_out_; }

  // Copies of the layers in their place: a process that outlived the call may write to the old ones.
  Result<void> renew(const std::string& state);

 private:
  explicit CallLayers(LayerPlace place) : place_(std::move(place)) {}
  Result<void> mark_start();
  void hold_indexes(const std::string& start_directory);
  Result<void> make_trees(const ConfinementPlan& plan, bool privileged);
  Result<void> take_trees(const ConfinementPlan& plan, bool privileged);
  void continue_task(const ConfinementPlan& plan, const std::string& state, const std::string& task);

  LayerPlace place_;
  OverlayAttributes attributes_ = OverlayAttributes::user_namespace;
  CallStart start_ = {};
  std::vector<TreeLayer> trees_ = {};
  std::vector<PlacedEntry> placed_ = {};  // each behind the directory that it lies in
  std::vector<HeldIndex> indexes_ = {};
  std::optional<SetInWork> continued_ = {};
  std::string left_out_ = {};
};

}  // namespace cloche
