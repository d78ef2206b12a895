// A private directory for the layers of one call. What a killed call leaves there, a later one removes.
//
//   ROOT/running/call-XXXXXX    of a call that runs; locked as long as it lives
//   ROOT/running/ended-XXXXXX   of one that has ended and left nothing that was written
//   ROOT/spare                  emptied, for the next call
//   ROOT/stored/ID              what belongs to a change set of the store
//
// To make and to remove these directories takes a tenth of a short call. So a call that wrote nothing only
// gives its own another name when it ends, the next one empties that while its command starts, and the one
// after that uses it.
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "store/commit/stored_set.hpp"
#include "store/layers/overlay_attributes.hpp"

namespace cloche {

class LayerPlace {
 public:
  // `root` is made where it is missing; it must be ours alone.
  static Result<LayerPlace> make(const std::string& root);

  LayerPlace(LayerPlace&& other) noexcept;
  LayerPlace& operator=(LayerPlace&& other) noexcept;
  LayerPlace(const LayerPlace&) = delete;
  LayerPlace& operator=(const LayerPlace&) = delete;
  ~LayerPlace();

  const std::string& root() const { return root_; }

  const std::string& directory() const { return directory_; }
  int held() const { return held_.get(); }
  // What the directory will be as that of a set, and then: it is. The set has to know it first, so that no
  // process that is killed leaves one in `stored` that belongs to none.
  Result<KnownDirectory> as_kept(const std::string& id) const;
  Result<void> keep(const std::string& id);

 private:
  LayerPlace() = default;
  std::string root_ = {};
  std::string name_ = {};
  std::string directory_ = {};  // empty: nothing is to be removed
  OwnedFd held_ = {};           // with the lock
};

// Empties what calls have left that ended before, for a later one. Bounded: nothing of theirs is read.
void clear_ended_layers(const std::string& root);

// What lies in `stored` and belongs to no set and no call that runs: what removing a set has left.
void remove_orphans(const std::string& root, const std::function<bool(const std::string& id)>& is_known);

// Where they lie if the state directory is on a file system that cannot hold any.
std::string layers_in_memory();
// Where layers with these attributes lie: in the state directory; where that is on a file system that cannot
// hold any, in memory. An Error says why there is no such place.
Result<std::string> find_layer_root(const std::string& state, OverlayAttributes attributes);

}  // namespace cloche
