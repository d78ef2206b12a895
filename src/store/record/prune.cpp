#include "store/record/prune.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/private_file.hpp"
#include "base/sys/sys.hpp"
#include "store/commit/change_sets.hpp"
#include "store/commit/task_changes.hpp"
#include "store/host/skeleton.hpp"
#include "store/layers/layer_place.hpp"
#include "store/record/record.hpp"
#include "store/record/stored_head.hpp"

namespace cloche {
namespace {

enum class What { record, task_homes };

void forget(const RunPlace& place) {
  if (place.state.empty()) return;
  ::unlink(stored_head_path(place).c_str());
  const std::string last = place.state + "/last";
  const auto named = read_private_file(last, 4096);
  if (named.ok() && named.value() == place.directory + "\n") ::unlink(last.c_str());
}

// The lock is held until all is gone, so that no call opens what is being removed.
Result<void> remove_finished(const RunPlace& place, What what) {
  const OwnedFd directory = TRY(hold_run_directory(place, RecordUse::write));
  const OwnedFd lock = TRY(lock_finished_run(place, directory.get()));
  const std::string homes = place.directory + "/" + task_homes_name;
  remove_tree(homes);
  if (::access(homes.c_str(), F_OK) == 0) return refusal(homes + " could not be removed whole");
  if (what == What::task_homes) return {};
  remove_tree(place.directory);
  if (::access(place.directory.c_str(), F_OK) == 0)
    return refusal(place.directory + " could not be removed whole");
  forget(place);
  return {};
}

uint64_t age_ms(const struct stat& seen) {
  const time_t now = ::time(nullptr);
  return now <= seen.st_mtim.tv_sec ? 0 : static_cast<uint64_t>(now - seen.st_mtim.tv_sec) * 1000;
}

uint64_t age_ms(const RunPlace& place) {
  struct stat seen {};
  const bool begun = ::stat(place.audit().c_str(), &seen) == 0;
  if (!begun && ::stat(place.directory.c_str(), &seen) != 0) return 0;
  return age_ms(seen);
}

// What is right in this directory and that old, with everything in it; which of it is gone.
std::vector<std::string> remove_old(const std::string& directory, uint64_t older_than_ms,
                                    std::vector<std::string>& left) {
  std::vector<std::string> gone;
  for (const auto& name : names_in(directory)) {
    const std::string path = directory + "/" + name;
    struct stat seen {};
    if (::lstat(path.c_str(), &seen) != 0 || age_ms(seen) < older_than_ms) continue;
    if (S_ISDIR(seen.st_mode)) {
      remove_tree(path);
    } else {
      ::unlink(path.c_str());
    }
    const bool is_left = ::lstat(path.c_str(), &seen) == 0;
    is_left ? left.push_back(path + " could not be removed whole") : gone.push_back(name);
  }
  return gone;
}

bool has_task_homes(const RunPlace& place) {
  return ::access((place.directory + "/" + task_homes_name).c_str(), F_OK) == 0;
}

}  // namespace

Result<Pruned> prune_run(const RunPlace& place) {
  // One that the operator named a directory for stays.
  if (place.state.empty() || parent_of(place.directory) != place.state + "/runs") {
    TRY(remove_finished(place, What::task_homes));
    return Pruned::task_homes;
  }
  TRY(remove_finished(place, What::record));
  return Pruned::record;
}

PruneReport prune_state(const std::string& state, std::optional<uint64_t> older_than_ms,
                        const UndoBounds& undo) {
  PruneReport report;
  if (!state.empty()) {
    const ChangeSets sets(state, boot_id());
    report.change_sets = sets.prune(undo, ::time(nullptr) * 1000).dropped;
    sets.empty_trash();
    remove_orphans(state + "/layers", [&](const std::string& id) { return sets.has(id); });
  }
  for (const auto& place : runs_in(state)) {
    const bool whole = older_than_ms && age_ms(place) >= *older_than_ms;
    if (!whole && (older_than_ms || !has_task_homes(place))) continue;
    const auto removed = remove_finished(place, whole ? What::record : What::task_homes);
    if (!removed.ok()) {
      report.left.push_back(place.run_id() + ": " + describe(removed.error()));
    } else {
      (whole ? report.records : report.task_homes).push_back(place.run_id());
    }
  }
  if (older_than_ms && !state.empty()) {
    (void)remove_old(state + "/" + task_changes_name, *older_than_ms, report.left);
    report.quarantines = remove_old(state + "/" + quarantine_name, *older_than_ms, report.left);
  }
  return report;
}

void clear_leftovers(const std::string& state) {
  if (state.empty()) return;
  clear_unfinished(state);
  for (const char* name : {"backends", "changes-of-tasks", "proofs", "share", "tried"})
    clear_unfinished(state + "/" + name);
  clear_skeletons(state);
}

}  // namespace cloche
