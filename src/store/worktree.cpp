#include "store/worktree.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/path.hpp"
#include "base/sys.hpp"
#include "policy/git_places.hpp"
#include "store/system_facts.hpp"

namespace cloche {
namespace {

bool same_file(const std::string& a, const std::string& b) {
  struct stat first {};
  struct stat second {};
  return ::lstat(a.c_str(), &first) == 0 && ::lstat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino && S_ISREG(first.st_mode);
}

bool is_file(const std::string& path) {
  struct stat seen {};
  return ::lstat(path.c_str(), &seen) == 0 && S_ISREG(seen.st_mode);
}

bool is_directory(const std::string& path) {
  struct stat seen {};
  return ::lstat(path.c_str(), &seen) == 0 && S_ISDIR(seen.st_mode);
}

// Not what a link leads to: who can write there can turn it.
std::optional<FileFact> directory_fact(const std::string& path) {
  struct stat seen {};
  if (::lstat(path.c_str(), &seen) != 0 || !S_ISDIR(seen.st_mode)) return std::nullopt;
  return fact_from(seen, path);
}

}  // namespace

std::optional<WorktreeGit> find_worktree_git(const FileFact& workspace) {
  const std::string pointer = workspace.path + "/.git";
  auto file = sys::open(pointer, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file.ok()) return std::nullopt;
  auto text =
      sys::read_all(file.value().get(), longest_pointer);  // of a directory: EISDIR, an ordinary repository
  const std::string named = text.ok() ? pointer_in(text.value(), "gitdir: ", workspace.path) : "";
  if (named.empty()) return std::nullopt;
  auto git_dir = sys::open(named, O_PATH | O_DIRECTORY);
  if (!git_dir.ok()) return std::nullopt;
  auto path = sys::path_of(git_dir.value().get());
  if (!path.ok() || is_beneath(workspace.path, path.value())) return std::nullopt;  // inside: visible anyway

  // COMMON/worktrees/NAME, by where it really is. Its file `commondir` is not asked: the layout is fixed.
  const std::string_view worktrees = parent_of(path.value());
  if (!worktrees.ends_with("/worktrees")) return std::nullopt;
  const std::string common(parent_of(worktrees));
  auto back = sys::read_file_at(git_dir.value().get(), "gitdir", longest_pointer);
  if (!back.ok() || !same_file(pointer_in(back.value(), "", path.value()), pointer)) return std::nullopt;

  // It must be a repository: any directory with a folder "worktrees" that a command can write to could pose
  // as one.
  if (!is_file(common + "/HEAD") || !is_directory(common + "/objects") || !is_directory(common + "/refs"))
    return std::nullopt;
  auto fact = directory_fact(common);
  if (!fact) return std::nullopt;
  struct stat owner {};
  if (::fstat(file.value().get(), &owner) != 0) return std::nullopt;
  WorktreeGit git{std::move(*fact), {}};
  if (git.common.uid != owner.st_uid) return git;
  for (const std::string& place : {common + "/objects", common + "/refs", common + "/logs", path.value()}) {
    auto written = directory_fact(place);
    if (written && written->uid == owner.st_uid) git.written.push_back(std::move(*written));
  }
  return git;
}

}  // namespace cloche
