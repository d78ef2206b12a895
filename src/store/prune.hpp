// Makes room: removes records of runs that nobody has open any more, and the homes that their tasks had.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "store/run_place.hpp"

namespace cloche {

enum class Pruned { record, task_homes };

// A run below the state directory goes whole; of a --run DIR, whose artifacts are the user's, only the homes
// of its tasks. A run that is in use is refused.
Result<Pruned> prune_run(const RunPlace& place);

struct PruneReport {
  std::vector<std::string> records = {};     // run ids that are gone
  std::vector<std::string> task_homes = {};  // of these only the homes
  std::vector<std::string> kept = {};        // "ID: why"
};
// Every run below the state directory whose audit nobody has written to for that long; without an age only
// the task homes of every finished run, and each record stays.
PruneReport prune_state(const std::string& state, std::optional<uint64_t> older_than_ms);

}  // namespace cloche
