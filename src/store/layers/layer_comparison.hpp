// What differs between an entry of the upper layer and the one of the same name in the lower layer. A file
// that was opened for writing, or whose mode was changed and changed back, is in the upper layer and may be
// equal in every respect: bytes are compared, because size and time of a changed file can be set back.
#pragma once

#include <sys/stat.h>

#include <string>

#include "model/change_set.hpp"
#include "store/layers/layer_entry.hpp"

namespace cloche {

struct LayerPair {
  LayerEntry upper;
  LayerEntry lower;
  const struct stat& upper_seen;
  const struct stat& lower_seen;
  const std::string& upper_attributes;  // as listxattr(2) gives them
  const std::string& lower_attributes;
};

// What keeps two entries from being compared.
enum class ComparisonObstacle { none, over_budget, upper, lower };

struct LayerComparison {
  Difference differs = {};  // as far as it could be compared
  ComparisonObstacle obstacle = ComparisonObstacle::none;
  std::string why = {};  // of the obstacle
};

// Times of directories are not compared: every name that comes or goes moves them. `budget` is how many bytes
// may be read of files.
LayerComparison compare_layers(const LayerPair& pair, const FileState& before, const FileState& after,
                               uint64_t& budget);

}  // namespace cloche
