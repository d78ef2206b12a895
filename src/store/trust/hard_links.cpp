#include "store/trust/hard_links.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "policy/plan/system_view.hpp"

namespace cloche {
namespace {

constexpr int levels = 2;  // commands/NAME.json

bool is_of_the_system(const std::string& path) {
  return std::any_of(std::begin(system_paths), std::end(system_paths),
                     [&](const ShownPath& row) { return is_beneath(row.path, path); });
}

bool could_be_written(const struct stat& seen, unsigned caller) {
  return seen.st_uid == caller || (seen.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

bool has_second_name(const struct stat& seen, unsigned caller) {
  return S_ISREG(seen.st_mode) && seen.st_nlink > 1 && could_be_written(seen, caller);
}

void collect(std::vector<std::string>& found, const std::string& path, unsigned caller, int deeper) {
  struct stat seen {};
  if (::stat(path.c_str(), &seen) != 0) return;  // where Cloche needs it, the call is refused
  if (has_second_name(seen, caller)) found.push_back(path);
  if (!S_ISDIR(seen.st_mode) || deeper == 0) return;
  for (const auto& name : names_in(path)) collect(found, path + "/" + name, caller, deeper - 1);
}

}  // namespace

std::vector<std::string> with_other_names(const std::string& place, unsigned caller) {
  std::vector<std::string> found;
  if (place.starts_with('/') && !is_of_the_system(place)) collect(found, place, caller, levels);
  return found;
}

bool has_other_names(int fd, const std::string& place, unsigned caller) {
  struct stat seen {};
  return !is_of_the_system(place) && (::fstat(fd, &seen) != 0 || has_second_name(seen, caller));
}

bool could_lie_in(const std::vector<Mount>& table, const std::string& file,
                  const std::vector<std::string>& trees) {
  const auto of_file = path_in_file_system(table, file);
  if (!of_file) return true;
  return std::any_of(trees.begin(), trees.end(), [&](const std::string& tree) {
    const auto of_tree = path_in_file_system(table, tree);
    if (!of_tree || of_tree->device == of_file->device) return true;
    return std::any_of(table.begin(), table.end(), [&](const Mount& mount) {
      return mount.device == of_file->device && is_beneath(tree, mount.point);
    });
  });
}

std::vector<std::string> that_could_lie_in(const std::vector<std::string>& trees,
                                           std::vector<std::string> files) {
  if (files.empty()) return files;
  const auto known = mount_table();
  const std::vector<Mount> table = known ? *known : std::vector<Mount>{};
  std::erase_if(files, [&](const std::string& file) {
    const auto held = sys::hold(file);
    return held.ok() && !could_lie_in(table, held.value().path, trees);
  });
  return files;
}

}  // namespace cloche
