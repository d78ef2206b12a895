// CallBounds: how many calls run beside each other in one gateway, and how many wait for a place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace cloche {

// As the key `calls` says it; nothing: what the machine has room for.
struct CallBounds {
  std::optional<size_t> at_once = {};
  std::optional<size_t> waiting = {};  // of each tenant

  bool operator==(const CallBounds&) const = default;
};

inline constexpr size_t most_calls_at_once = 1024;
inline constexpr size_t most_calls_waiting = 100'000;

// What a gateway keeps to.
struct QueueLimits {
  size_t running = 32;
  size_t waiting = 1024;                    // of each tenant
  size_t waiting_bytes = size_t{64} << 20;  // of their arguments, of each tenant

  bool operator==(const QueueLimits&) const = default;
};

struct MachineSize {
  size_t cores = 1;
  uint64_t memory_bytes = 0;  // 0: it is not known
};

// Many calls a core: most of them wait, for the kernel when they start and end, and then for what they do.
// Fewer where the machine has less than 128 MiB for each.
inline QueueLimits limits_of(const CallBounds& bounds, const MachineSize& machine) {
  constexpr size_t a_core = 64;
  constexpr uint64_t bytes_a_call = uint64_t{128} << 20;
  constexpr size_t least = 4;
  constexpr size_t most = 256;
  constexpr size_t waiting_for_each = 8;
  size_t running = std::min(most, std::max<size_t>(machine.cores, 1) * a_core);
  if (machine.memory_bytes != 0)
    running = std::min<size_t>(running, static_cast<size_t>(machine.memory_bytes / bytes_a_call));
  running = bounds.at_once.value_or(std::max(least, running));
  return {.running = running, .waiting = bounds.waiting.value_or(waiting_for_each * running)};
}

}  // namespace cloche
