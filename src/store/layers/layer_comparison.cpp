#include "store/layers/layer_comparison.hpp"

#include "store/layers/overlay_attributes.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

LayerComparison obstacle(ComparisonObstacle which, const Error& error) {
  return {{}, which, describe(error)};
}

LayerComparison compare_files(const LayerPair& pair, uint64_t& budget) {
  LayerComparison compared;
  if (pair.upper_seen.st_size != pair.lower_seen.st_size) {
    compared.differs.contents = true;
    return compared;
  }
  if (pair.upper_seen.st_size == 0) return compared;
  const OwnedFd upper = open_child(pair.upper.directory, pair.upper.name, O_RDONLY);
  if (!upper) return obstacle(ComparisonObstacle::upper, system_error("open it"));
  const OwnedFd lower = open_child(pair.lower.directory, pair.lower.name, O_RDONLY);
  if (!lower) return obstacle(ComparisonObstacle::lower, system_error("open it"));
  const auto size = static_cast<uint64_t>(pair.upper_seen.st_size);
  const auto bytes = compare_bytes(upper.get(), lower.get(), size, budget);
  if (!bytes) return obstacle(ComparisonObstacle::lower, bytes.error());
  if (bytes.value() == Comparison::over_budget) compared.obstacle = ComparisonObstacle::over_budget;
  compared.differs.contents = bytes.value() == Comparison::different;
  return compared;
}

LayerComparison compare_contents(const LayerPair& pair, const FileState& before, const FileState& after,
                                 uint64_t& budget) {
  switch (after.kind) {
    case FileKind::file: return compare_files(pair, budget);
    case FileKind::link: return {{.contents = before.link != after.link}};
    case FileKind::device: return {{.contents = pair.upper_seen.st_rdev != pair.lower_seen.st_rdev}};
    case FileKind::directory:
    case FileKind::fifo:
    case FileKind::socket: return {};
  }
  return {};
}

LayerComparison compare_attributes(const LayerPair& pair) {
  const auto upper = attributes_of(pair.upper, pair.upper_attributes);
  if (!upper) return obstacle(ComparisonObstacle::upper, upper.error());
  const auto lower = attributes_of(pair.lower, pair.lower_attributes);
  if (!lower) return obstacle(ComparisonObstacle::lower, lower.error());
  return {{.attributes = upper.value() != lower.value()}};
}

}  // namespace

LayerComparison compare_layers(const LayerPair& pair, const FileState& before, const FileState& after,
                               uint64_t& budget) {
  Difference differs;
  differs.mode = before.mode != after.mode;
  differs.owner = before.uid != after.uid || before.gid != after.gid;
  if (before.kind != after.kind) {
    differs.kind = true;
    differs.contents = true;
    return {differs};
  }
  differs.times = after.kind != FileKind::directory && before.modified_ns != after.modified_ns;
  LayerComparison compared = compare_contents(pair, before, after, budget);
  differs.contents = compared.differs.contents;
  if (compared.obstacle == ComparisonObstacle::none) {
    compared = compare_attributes(pair);
    differs.attributes = compared.differs.attributes;
  }
  compared.differs = differs;
  return compared;
}

}  // namespace cloche
