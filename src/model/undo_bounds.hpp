// UndoBounds: how much the store keeps for undo.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cloche {

// A bound that only sets of the last day meet throws nothing away: what would go beyond it is staged. So the
// number of sets is one that a busy day does not reach.
struct UndoBounds {
  size_t count = 50'000;                // of sets
  uint64_t bytes = 2ULL << 30;          // of what was replaced and deleted
  uint64_t ignored_bytes = 4ULL << 30;  // likewise, of paths that a .gitignore covers

  bool operator==(const UndoBounds&) const = default;
};

}  // namespace cloche
