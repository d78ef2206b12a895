#include "store/host/worktree.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <string_view>
#include <utility>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "policy/protected/git_config.hpp"
#include "policy/protected/git_config_paths.hpp"
#include "store/host/system_facts.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

bool same_file(const std::string& a, const std::string& b) {
  const auto first = look_in(AT_FDCWD, a);
  const auto second = look_in(AT_FDCWD, b);
  return first && second && first->st_dev == second->st_dev && first->st_ino == second->st_ino &&
         S_ISREG(first->st_mode);
}

// Not what a link leads to: a command that can write there can replace the link.
std::optional<FileFact> directory_fact(const std::string& path) {
  const auto seen = look_in(AT_FDCWD, path);
  if (!seen || !S_ISDIR(seen->st_mode)) return std::nullopt;
  return fact_from(*seen, path);
}

// What git asks of a directory. Any other one that a command can write to could pose as a repository.
bool is_repository(const std::string& path) {
  const auto head = look_in(AT_FDCWD, path + "/HEAD");
  return head && S_ISREG(head->st_mode) && directory_fact(path + "/objects") &&
         directory_fact(path + "/refs");
}

// The git directory that the file .git of a workspace leads to.
struct Pointed {
  OwnedFd fd;
  std::string path;  // where it really is
  unsigned owner;    // of the file
};

std::optional<Pointed> follow_pointer(const FileFact& workspace) {
  auto file = sys::open(workspace.path + "/.git", O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file.ok()) return std::nullopt;
  auto text =
      sys::read_all(file.value().get(), longest_pointer);  // of a directory: EISDIR, an ordinary repository
  const std::string named = text.ok() ? pointer_in(text.value(), "gitdir: ", workspace.path) : "";
  if (named.empty()) return std::nullopt;
  auto git_dir = sys::open(named, O_PATH | O_DIRECTORY);
  if (!git_dir.ok()) return std::nullopt;
  auto path = sys::path_of(git_dir.value().get());
  if (!path.ok() || is_beneath(workspace.path, path.value())) return std::nullopt;  // inside: visible anyway
  struct stat owner {};
  if (::fstat(file.value().get(), &owner) != 0) return std::nullopt;
  return Pointed{std::move(git_dir.value()), std::move(path.value()), owner.st_uid};
}

std::optional<WorktreeGit> with_written(const std::string& common, unsigned owner,
                                        const std::vector<std::string>& places) {
  auto fact = is_repository(common) ? directory_fact(common) : std::nullopt;
  if (!fact) return std::nullopt;
  WorktreeGit git{std::move(*fact), {}};
  if (git.common.uid != owner) return git;
  for (const auto& place : places) {
    auto written = directory_fact(place);
    if (written && written->uid == owner) git.written.push_back(std::move(*written));
  }
  return git;
}

// COMMON/worktrees/NAME, by where it really is. Its file `commondir` is not asked: the layout is fixed.
std::optional<WorktreeGit> of_worktree(const Pointed& at, const std::string& workspace) {
  const std::string_view worktrees = parent_of(at.path);
  if (!worktrees.ends_with("/worktrees")) return std::nullopt;
  auto back = sys::read_file_at(at.fd.get(), "gitdir", longest_pointer);
  if (!back.ok() || !same_file(pointer_in(back.value(), "", at.path), workspace + "/.git"))
    return std::nullopt;
  const std::string common(parent_of(worktrees));
  return with_written(common, at.owner, {common + "/objects", common + "/refs", common + "/logs", at.path});
}

// core.worktree, which git writes into the second file when that is turned on.
std::string working_tree_of(const Pointed& at) {
  for (const char* name : {"config", "config.worktree"}) {
    auto text = sys::read_file_at(at.fd.get(), name, max_git_config_bytes);
    const std::string said = text.ok() ? places_said(text.value()).working_tree : "";
    if (!said.empty()) return place_from(said, at.path, [](std::string_view) { return std::string(); });
  }
  return "";
}

// SUPER/.git/modules/NAME, where a NAME may have slashes. All of it is git's to write; what git executes in
// it is protected from the command as in any other git directory.
std::optional<WorktreeGit> of_submodule(const Pointed& at, const std::string& workspace) {
  const bool is_module = (std::string(parent_of(at.path)) + "/").find("/modules/") != std::string::npos;
  // And in a repository: there all of it is judged, whatever a command removes from it.
  if (!is_module || meaning_of_tree(at.path).part == GitPart::none) return std::nullopt;
  const std::string tree = working_tree_of(at);
  struct stat said {};
  struct stat own {};
  const bool leads_back = !tree.empty() && ::stat(tree.c_str(), &said) == 0 &&
                          ::stat(workspace.c_str(), &own) == 0 && said.st_dev == own.st_dev &&
                          said.st_ino == own.st_ino;
  return leads_back ? with_written(at.path, at.owner, {at.path}) : std::nullopt;
}

}  // namespace

std::optional<WorktreeGit> find_worktree_git(const FileFact& workspace) {
  const auto at = follow_pointer(workspace);
  if (!at) return std::nullopt;
  auto git = of_worktree(*at, workspace.path);
  return git ? std::move(git) : of_submodule(*at, workspace.path);
}

}  // namespace cloche
