#include "store/commit/kept_bytes.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <set>

#include "base/sys/sys.hpp"
#include "policy/changes/ignored_paths.hpp"
#include "store/commit/tree_directories.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

constexpr uint64_t worth_a_look = 1 << 20;
constexpr size_t most_directories = 20'000;  // in which a .gitignore is looked for
constexpr size_t most_text = 256 << 10;

IgnoredPaths ignored_in(int project, const std::vector<const Change*>& files) {
  std::set<std::string> directories = {""};
  for (const Change* file : files) {
    for (std::string path = std::string(directory_part(file->path));
         directories.size() < most_directories && directories.insert(path).second;)
      path = std::string(directory_part(path));
  }
  std::vector<IgnoreText> texts;
  for (const std::string& directory : directories) {
    const OwnedFd file = open_descendant(project, joined(directory, ".gitignore"), O_RDONLY);
    struct stat seen {};
    if (!file || ::fstat(file.get(), &seen) != 0 || !S_ISREG(seen.st_mode)) continue;
    auto text = sys::read_all(file.get(), most_text);
    if (text.ok()) texts.push_back({directory, std::move(text).value()});
  }
  return IgnoredPaths(texts);
}

}  // namespace

KeptBytes count_kept_bytes(const ChangeSet& set, const std::vector<ChangeVerdict>& verdicts,
                           std::span<const CommitTree> trees) {
  KeptBytes kept;
  std::vector<std::vector<const Change*>> files(trees.size());
  for (size_t i = 0; i < set.changes.size() && i < verdicts.size(); ++i) {
    const Change& change = set.changes[i];
    if (!change.before || change.tree >= trees.size() || verdicts[i].fate != Fate::committed) continue;
    kept.plain += change.before->size;
    if (change.before->size != 0) files[change.tree].push_back(&change);
  }
  if (kept.plain < worth_a_look) return kept;
  for (size_t tree = 0; tree < trees.size(); ++tree) {
    IgnoredPaths ignored = ignored_in(trees[tree].project, files[tree]);
    for (const Change* file : files[tree]) {
      if (!ignored.ignores(file->path, PathIs::other)) continue;
      kept.plain -= file->before->size;
      kept.ignored += file->before->size;
    }
  }
  return kept;
}

}  // namespace cloche
