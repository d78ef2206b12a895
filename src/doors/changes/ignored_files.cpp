#include "doors/changes/stored_sets_text.hpp"

#include <map>
#include <set>

#include "policy/changes/ignored_paths.hpp"

namespace cloche {
namespace {

constexpr size_t most_directories = 20'000;  // in which a .gitignore is looked for

std::set<std::string> directories_of(const std::vector<ShownChange>& files) {
  std::set<std::string> directories = {""};
  for (const ShownChange& file : files) {
    if (file.change.tree != 0) continue;
    for (size_t slash = file.change.path.rfind('/'); slash != std::string::npos && slash > 0;
         slash = file.change.path.rfind('/', slash - 1)) {
      if (!directories.insert(file.change.path.substr(0, slash)).second) break;
      if (directories.size() >= most_directories) return directories;
    }
  }
  return directories;
}

}  // namespace

void mark_ignored(const StoredSet& set, SetContents& contents, std::vector<ShownChange>& files) {
  std::map<std::string_view, size_t> changed;  // of the workspace
  for (size_t i = 0; i < set.changes.changes.size(); ++i) {
    if (set.changes.changes[i].tree == 0) changed[set.changes.changes[i].path] = i;
  }
  std::vector<IgnoreText> texts;
  for (const std::string& directory : directories_of(files)) {
    const std::string path = directory.empty() ? ".gitignore" : directory + "/.gitignore";
    const auto found = changed.find(path);
    const SideContents text =
        found == changed.end() ? contents.unchanged(0, path) : contents.before(found->second);
    if (text.bytes) texts.push_back({directory, *text.bytes});
  }
  if (texts.empty()) return;
  IgnoredPaths ignored(texts);
  for (ShownChange& file : files) {
    if (file.change.tree != 0 || file.change.path.empty()) continue;
    const auto& state = file.change.after ? file.change.after : file.change.before;
    const bool is_directory = state && state->kind == FileKind::directory;
    file.ignored = ignored.ignores(file.change.path, is_directory ? PathIs::directory : PathIs::other);
  }
}

}  // namespace cloche
