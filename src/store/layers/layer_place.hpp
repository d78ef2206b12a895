// A private directory for the layers of one call, on the mount of a tree that the call writes: a file can be
// renamed from it into the project. What a killed call leaves there, a later one removes.
//
//   ROOT/running/call-XXXXXX   of a call that runs; locked as long as it lives
//   ROOT/stored/ID             what belongs to a change set of the store
#pragma once

#include <string>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "store/commit/stored_set.hpp"

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
  Result<KnownDirectory> keep(const std::string& id);

 private:
  LayerPlace() = default;
  std::string root_ = {};
  std::string directory_ = {};  // empty: nothing is to be removed
  OwnedFd held_ = {};           // with the lock
};

// Whether a file can be renamed from the one directory to the other: the same mount, not only the same file
// system.
bool are_on_one_mount(int one, int other);

// Where the layers of a tree can lie: in the state directory, or beside the tree, outside every repository.
// An Error says why there is no such place.
Result<std::string> find_layer_root(const std::string& tree, int held_tree, const std::string& state);

}  // namespace cloche
