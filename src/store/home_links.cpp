#include "store/home_links.hpp"

#include "base/path.hpp"
#include "base/sys.hpp"
#include "store/tree_steps.hpp"

namespace cloche {
namespace {

constexpr int deepest = 4;  // of what a row names, as .config/nvim

void add_links(const std::string& directory, const Trail& trail, int depth, std::vector<NamedPlace>& places) {
  const auto fd = sys::open(directory, directory_flags);
  if (!fd.ok()) return;  // then no shell of the operator's reads it either
  DirectoryNames names(trail, GitPart::none);
  (void)for_each_name(fd.value().get(), [&](const dirent& entry) {
    names.add(entry.d_name, kind_in(fd.value().get(), entry));
    return true;
  });
  names.settle();
  for (const auto& member : names.members()) {
    if (member.kind != NameKind::link) continue;
    struct stat end {};
    const bool is_directory =
        ::fstatat(fd.value().get(), member.name.c_str(), &end, 0) == 0 && S_ISDIR(end.st_mode);
    places.push_back({directory + "/" + member.name, is_directory ? PlaceKind::hooks : PlaceKind::config});
  }
  for (const auto& sub : names.subdirectories()) {
    if (!sub.trail.empty() && depth < deepest)
      add_links(directory + "/" + sub.name, sub.trail, depth + 1, places);
  }
}

}  // namespace

std::vector<NamedPlace> home_links(const std::string& home, const std::string& root) {
  std::vector<NamedPlace> places;
  if (!is_plain_absolute(home) || home == "/" || is_beneath(root, home)) return places;
  add_links(home, {}, 0, places);
  return places;
}

}  // namespace cloche
