#include "base/path.hpp"

namespace cloche {

bool is_beneath(std::string_view root, std::string_view path) {
  if (root == "/") return !path.empty() && path[0] == '/';
  return path.substr(0, root.size()) == root && (path.size() == root.size() || path[root.size()] == '/');
}

bool is_plain_absolute(std::string_view path) {
  if (path == "/") return true;
  if (path.empty() || path[0] != '/') return false;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::string_view name = path.substr(0, path.find('/'));
    if (name.empty() || name == "." || name == ".." || name.find('\0') != std::string_view::npos)
      return false;
    path.remove_prefix(name.size());
  }
  return true;
}

std::string_view parent_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? std::string_view("/") : path.substr(0, slash);
}

}  // namespace cloche
