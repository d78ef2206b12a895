// The last head of a run's audit, stored in the state directory: STATE/heads/<sha256 of the run's path>. A
// run directory whose files were all cut back alike is whole in itself, and only this shows it.
#pragma once

#include <optional>
#include <string>

#include "base/sys/fd.hpp"
#include "store/record/chain.hpp"
#include "store/record/run_place.hpp"

namespace cloche {

std::string stored_head_path(const RunPlace& place);

class StoredHead {
 public:
  // Without a state directory, or where none can be made, nothing is stored.
  static StoredHead open(const RunPlace& place);

  void store(const ChainEnd& audit) const;

 private:
  OwnedFd file_;
};

// The line and hash that the audit once had; nothing when it had none, or none is stored.
std::optional<ChainEnd> read_stored_head(const RunPlace& place);

// A run that is remembered though its directory is gone, by its id, its path or 'last'.
std::optional<RunPlace> find_lost_run(const std::string& word, const std::string& state);

}  // namespace cloche
