#include "store/commit/tree_directories.hpp"

namespace cloche {

int TreeDirectories::open(size_t tree, StepSide side, std::string_view path) {
  if (path.empty()) return root(tree, side);
  Kept& kept = kept_[tree][side == StepSide::project ? 0 : 1];
  if (kept.fd && kept.path == path) return kept.fd.get();
  kept.fd = open_descendant(root(tree, side), path, O_PATH | O_DIRECTORY);
  kept.path = path;
  return kept.fd.get();
}

std::string_view directory_part(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string name_part(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

}  // namespace cloche
