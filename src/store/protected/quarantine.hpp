// Where things go that a command made and something on the host would execute: a directory of Cloche's own,
// 0700, in no command's view. Nothing is ever deleted: what cannot be moved out of the tree is given another
// name in it, which nobody executes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "model/outcome.hpp"
#include "store/protected/protected_walk.hpp"

namespace cloche {

// A directory for one call; made with the first thing that is put into it.
class Quarantine {
 public:
  // Empty: there is nowhere, and everything is renamed where it is.
  explicit Quarantine(std::string directory) : directory_(std::move(directory)) {}

  // Takes it out of the tree at `root`. Nothing: it is not there any more, because another call took it. An
  // error: it is still there.
  Result<std::optional<Quarantined>> take(const HeldRoot& root, const Suspect& suspect);

  // A copy of something that has no place in the tree now: where it is.
  Result<std::string> keep(const std::string& name, const std::string& content);

 private:
  Result<Quarantined> take_out(const HeldRoot& root, const Suspect& suspect);
  Result<std::string> next_place();

  std::string directory_;
  unsigned taken_ = 0;
};

}  // namespace cloche
