#include "base/sys/path.hpp"

#include <algorithm>
#include <vector>

#include "base/lists.hpp"
#include "base/text/pieces.hpp"

namespace cloche {

bool is_beneath(std::string_view root, std::string_view path) {
  if (root == "/") return !path.empty() && path[0] == '/';
  return path.substr(0, root.size()) == root && (path.size() == root.size() || path[root.size()] == '/');
}

bool is_beneath_any(const std::vector<std::string>& roots, std::string_view path) {
  return std::ranges::any_of(roots, [&](const std::string& root) { return is_beneath(root, path); });
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

bool has_dots(std::string_view path) { return contains(components_of(path), ".."); }

bool climbs_behind_a_name(std::string_view path) {
  bool has_name = false;
  for (const std::string_view name : components_of(path)) {
    if (name == ".." && has_name) return true;
    has_name = has_name || (name != ".." && name != ".");
  }
  return false;
}

std::string plainly_written(std::string_view path) {
  std::string plain;
  for (const std::string_view name : components_of(path)) plain.append("/").append(name);
  return plain.empty() ? "/" : plain;
}

std::string_view parent_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? std::string_view("/") : path.substr(0, slash);
}

std::string_view directory_in(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view name_in(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string joined(std::string_view directory, std::string_view name) {
  std::string path(directory);
  if (!path.empty()) path += '/';
  return path.append(name);
}

bool lies_below(std::string_view directory, std::string_view path) {
  return path != directory && is_at_or_below(directory, path);
}

bool is_at_or_below(std::string_view directory, std::string_view path) {
  if (directory.empty() || path == directory) return true;
  return path.size() > directory.size() && path[directory.size()] == '/' && path.starts_with(directory);
}

std::string tidied(const std::string& directory, const std::string& written) {
  const std::string whole = !written.empty() && written[0] == '/' ? written : directory + "/" + written;
  std::vector<std::string_view> names;
  for (const auto name : components_of(whole)) {
    if (name == ".." && !names.empty()) names.pop_back();
    if (name != "..") names.push_back(name);
  }
  std::string path;
  for (const auto& name : names) path.append("/").append(name);
  return path.empty() ? "/" : path;
}

std::vector<std::string_view> components_of(std::string_view path) {
  std::vector<std::string_view> names;
  while (!path.empty()) {
    const std::string_view name = take_until(path, "/");
    if (!name.empty() && name != ".") names.push_back(name);
  }
  return names;
}

}  // namespace cloche
