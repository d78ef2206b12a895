// Makes room: removes records of runs that no process has open, the homes that their tasks had, and what
// calls without a record have left below the state directory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/undo_bounds.hpp"
#include "store/record/run_place.hpp"

namespace cloche {

enum class Pruned { record, task_homes };

// A run below the state directory goes whole; of a --run DIR, whose artifacts are the user's, only the homes
// of its tasks. A run that is in use is refused.
Result<Pruned> prune_run(const RunPlace& place);

struct PruneReport {
  std::vector<std::string> records = {};      // run ids that are gone
  std::vector<std::string> task_homes = {};   // of these only the homes
  std::vector<std::string> quarantines = {};  // of calls without a record
  size_t change_sets = 0;                     // that can no longer be undone
  std::vector<std::string> left = {};         // "ID: why"
};
// Every run below the state directory whose audit was not written to for that long, the quarantine of
// every call without a record that took something away that long ago, and what is remembered of trees that
// were not scanned since; without an age only the task homes of every finished run, and each record
// stays. What killed calls left of change sets has been finished or taken back by then. Of change sets in
// either case those beyond the bounds of undo, and what was dropped of them.
PruneReport prune_state(const std::string& state, std::optional<uint64_t> older_than_ms,
                        const UndoBounds& undo = {});

// Removes what killed calls left in Cloche's state: files and skeletons that were never given their final
// names. Called where a killed call was found and where something is proven anew, not by every call, because
// it lists directories.
void clear_leftovers(const std::string& state);

}  // namespace cloche
