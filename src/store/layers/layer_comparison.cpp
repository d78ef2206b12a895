#include "store/layers/layer_comparison.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

// The first byte at or after `from` that is no hole. Where the file system does not say, there are no holes.
uint64_t next_data(int fd, uint64_t from, uint64_t size) {
  const off_t at = ::lseek(fd, static_cast<off_t>(from), SEEK_DATA);
  if (at >= 0) return static_cast<uint64_t>(at);
  return errno == ENXIO ? size : from;
}

// As much as there is, up to `most`.
Result<size_t> read_at(int fd, char* into, size_t most, uint64_t from) {
  size_t filled = 0;
  while (filled < most) {
    const ssize_t more = ::pread(fd, into + filled, most - filled, static_cast<off_t>(from + filled));
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return system_error("read a file of a layer");
    if (more == 0) break;
    filled += static_cast<size_t>(more);
  }
  return filled;
}

enum class Comparison { equal, different, over_budget };

// Two open files of this size, byte by byte; holes that both have are not read. `budget` is what may be read
// of each, and loses what was.
Result<Comparison> compare_bytes(int one, int other, uint64_t size, uint64_t& budget) {
  constexpr size_t piece = 65536;
  constexpr uint64_t worth_a_look_for_holes = 1 << 20;
  char left[piece];
  char right[piece];
  for (uint64_t at = 0; at < size;) {
    if (size >= worth_a_look_for_holes) {
      at = std::min(next_data(one, at, size), next_data(other, at, size));
      if (at >= size) break;
    }
    const auto wanted = static_cast<size_t>(std::min<uint64_t>(piece, size - at));
    if (budget < wanted) return Comparison::over_budget;
    budget -= wanted;
    const size_t read_left = TRY(read_at(one, left, wanted, at));
    const size_t read_right = TRY(read_at(other, right, wanted, at));
    // Shorter than its size: the host cut it off just now.
    if (read_left != wanted || read_right != wanted) return Comparison::different;
    if (std::memcmp(left, right, wanted) != 0) return Comparison::different;
    at += wanted;
  }
  return Comparison::equal;
}

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
