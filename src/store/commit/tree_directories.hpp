// The directories that a commit works in, opened beneath the project's tree or its source. Steps come
// directory by directory, so the last one of each side is kept open.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/commit/commit.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {

class TreeDirectories {
 public:
  explicit TreeDirectories(std::span<const CommitTree> trees) : trees_(trees), kept_(trees.size()) {}

  // A descriptor that stays open until the next one of that tree and side is asked for. No link, no other
  // mount. -1: errno says why.
  int open(size_t tree, StepSide side, std::string_view path) {
    if (path.empty()) return root(tree, side);
    Kept& kept = kept_[tree][side == StepSide::project ? 0 : 1];
    if (kept.fd && kept.path == path) return kept.fd.get();
    kept = {std::string(path), open_descendant(root(tree, side), path, O_PATH | O_DIRECTORY)};
    return kept.fd.get();
  }
  // After a directory was made, moved or replaced.
  void forget() {
    for (auto& sides : kept_) sides = {};
  }
  int root(size_t tree, StepSide side) const {
    return side == StepSide::project ? trees_[tree].project : trees_[tree].source;
  }

 private:
  struct Kept {
    std::string path = {};
    OwnedFd fd = {};
  };

  std::span<const CommitTree> trees_;
  std::vector<std::array<Kept, 2>> kept_;
};

}  // namespace cloche
