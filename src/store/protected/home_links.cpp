#include "store/protected/home_links.hpp"

#include <algorithm>
#include <deque>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "store/trust/symlink_trace.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

NamedPlace place_behind(const std::string& link) {
  return {link, leads_to_directory(link) ? PlaceKind::hooks : PlaceKind::config};
}

constexpr int deepest = 4;  // of what a row names, as .config/nvim

void add_links(const std::string& directory, const Trail& trail, int depth, std::vector<NamedPlace>& places,
               std::deque<std::string>& inside) {
  const auto fd = sys::open(directory, directory_flags);
  if (!fd.ok()) return;  // then no shell of the operator's reads it either
  DirectoryNames names(trail, GitPart::none);
  (void)for_each_name(fd.value().get(), [&](const dirent& entry) {
    names.add(entry.d_name, kind_in(fd.value().get(), entry));
    return true;
  });
  names.settle();
  for (const auto& member : names.members()) {
    const std::string path = directory + "/" + member.name;
    if (member.kind == NameKind::link) places.push_back(place_behind(path));
    if (member.kind != NameKind::other && leads_to_directory(path)) inside.push_back(path);
  }
  for (const auto& sub : names.subdirectories()) {
    if (!sub.trail.empty() && depth < deepest)
      add_links(directory + "/" + sub.name, sub.trail, depth + 1, places, inside);
  }
}

// Whether its way ends in the tree, be it at something that is still to be made, or goes by a link there.
bool comes_by(const std::string& root, const std::string& path) {
  const SymlinkTrace way = trace_symlinks(path);
  return is_beneath(root, way.error == 0 ? way.path : way.missing) ||
         std::any_of(way.links.begin(), way.links.end(),
                     [&](const SymlinkTrace::Link& link) { return is_beneath(root, link.path); });
}

// In directories that are members as a whole, such as .vim: every call waits for this, so only so many names,
// and those at the top of each first.
void add_links_inside(std::deque<std::string> waiting, std::vector<NamedPlace>& places) {
  constexpr size_t most_names = 512;
  for (size_t names = 0; !waiting.empty(); waiting.pop_front()) {
    const auto fd = sys::open(waiting.front(), directory_flags);
    if (!fd.ok()) continue;
    (void)for_each_name(fd.value().get(), [&](const dirent& entry) {
      const NameKind kind = kind_in(fd.value().get(), entry);
      const std::string path = waiting.front() + "/" + entry.d_name;
      if (kind == NameKind::link) places.push_back(place_behind(path));
      if (kind == NameKind::directory) waiting.push_back(path);
      return ++names < most_names;
    });
    if (names >= most_names) return;
  }
}

}  // namespace

std::vector<NamedPlace> home_links(const std::string& home, const std::string& root) {
  std::vector<NamedPlace> places;
  if (!is_plain_absolute(home) || home == "/" || is_beneath(root, home)) return places;
  std::deque<std::string> inside;
  add_links(home, {}, 0, places, inside);
  // What lies in the tree is looked at there.
  std::erase_if(inside, [&](const std::string& path) {
    const auto held = sys::hold(path);
    return !held.ok() || is_beneath(root, held.value().path);
  });
  add_links_inside(std::move(inside), places);
  std::erase_if(places, [&](const NamedPlace& place) { return !comes_by(root, place.path); });
  return places;
}

}  // namespace cloche
