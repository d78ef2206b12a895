// Where things go that a command made and something on the host would execute: a directory of Cloche's own,
// 0700, in no command's view. Nothing is ever deleted: what cannot be renamed out of the tree, because it is
// on another file system, is given another name in it, which no program looks for.
#pragma once

#include <string>

#include "base/result.hpp"
#include "model/outcome.hpp"

namespace cloche {

// A directory for one call; made with the first thing that is put into it.
class Quarantine {
 public:
  // Empty: there is nowhere, and everything is renamed where it is.
  explicit Quarantine(std::string directory) : directory_(std::move(directory)) {}

  // Takes the path, relative to the root, out of the tree. An error: it is still there, or was not.
  Result<Quarantined> take(int root, const std::string& root_path, const std::string& path);

 private:
  Result<std::string> next_place();

  std::string directory_;
  unsigned taken_ = 0;
};

}  // namespace cloche
