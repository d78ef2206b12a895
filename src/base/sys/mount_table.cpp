#include "base/sys/mount_table.hpp"

#include <algorithm>
#include <charconv>

#include "base/sys/path.hpp"
#include "base/text/pieces.hpp"

namespace cloche {
namespace {

// \040 is a space.
std::string unescaped(std::string_view escaped) {
  std::string path;
  for (size_t i = 0; i < escaped.size(); ++i) {
    if (escaped[i] == '\\' && i + 3 < escaped.size()) {
      int code = 0;
      std::from_chars(escaped.data() + i + 1, escaped.data() + i + 4, code, 8);
      path += static_cast<char>(code);
      i += 3;
    } else {
      path += escaped[i];
    }
  }
  return path;
}

}  // namespace

std::vector<Mount> read_mount_table(std::string_view text) {
  std::vector<Mount> table;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    take_until(line, " ");  // its own number
    take_until(line, " ");  // its parent's
    const std::string_view device = take_until(line, " ");
    const std::string_view root = take_until(line, " ");
    const std::string_view point = take_until(line, " ");
    if (!point.empty()) table.push_back({std::string(device), unescaped(root), unescaped(point)});
  }
  return table;
}

std::optional<FileSystemPath> path_in_file_system(const std::vector<Mount>& table, const std::string& path) {
  const Mount* on = nullptr;
  for (const auto& mount : table) {
    if (is_beneath(mount.point, path) && (on == nullptr || mount.point.size() >= on->point.size()))
      on = &mount;
  }
  if (on == nullptr) return std::nullopt;
  const std::string below = on->point == "/" ? path : path.substr(on->point.size());
  if (below.empty() || below == "/") return FileSystemPath{on->device, on->root};
  return FileSystemPath{on->device, (on->root == "/" ? "" : on->root) + below};
}

}  // namespace cloche
