// A private directory for the layers of one call. What a killed call leaves there, a later one removes.
//
//   ROOT/running/call-XXXXXX   of a call that runs; locked as long as it lives
//   ROOT/stored/ID             what belongs to a change set of the store
#pragma once

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

  const std::string& directory() const { return directory_; }
  int held() const { return held_.get(); }
  Result<KnownDirectory> keep(const std::string& id);

 private:
  LayerPlace() = default;
  std::string root_ = {};
  std::string directory_ = {};  // empty: nothing is to be removed
  OwnedFd held_ = {};           // with the lock
};

// Where layers with these attributes lie: in the state directory; where that is on a file system that cannot
// hold any, in memory. An Error says why there is no such place.
Result<std::string> find_layer_root(const std::string& state, OverlayAttributes attributes);

}  // namespace cloche
