// Copies an entry of a layer, a directory with everything in it: where the layer is on another mount than the
// project, or a process may still write to it. Owner, mode, times, holes, attributes of users and links
// between the copied files are kept.
#pragma once

#include <sys/stat.h>

#include <map>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "store/commit/known_directory.hpp"
#include "store/layers/layer_entry.hpp"

namespace cloche {

class EntryCopier {
 public:
  // Copies are made in `target`, and files with several names keep them within it.
  explicit EntryCopier(int target, OverlaysOwn overlays = OverlaysOwn::left_out)
      : target_(target), overlays_(overlays) {}

  Result<void> copy(int from_directory, const std::string& from, const std::string& to);

 private:
  Result<void> copy_one(const LayerEntry& from, const LayerEntry& to, const std::string& path);

  int target_;
  OverlaysOwn overlays_;
  std::map<std::pair<dev_t, ino_t>, std::string> copied_ = {};  // files with several names
};

// A copy of an upper layer, which no descriptor that is open elsewhere leads to, in a directory of its own
// beside that of the layer. Until the set knows the copy, the layer counts; then remove_old_layer() may take
// it away.
Result<KnownDirectory> copy_layer(const KnownDirectory& layer);
void remove_old_layer(const KnownDirectory& layer);

}  // namespace cloche
