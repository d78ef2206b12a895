#include <sys/stat.h>

#include <algorithm>

#include "base/sys/mount_table.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "policy/protected/protected_trees.hpp"
#include "store/host/observe.hpp"
#include "store/host/system_facts.hpp"
#include "store/protected/tree_look.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

// The git directory that a path lies in, when its name says so; empty: none.
std::string git_directory_of(const std::string& path) {
  constexpr std::string_view name = "/.git/";
  const size_t at = path.rfind(name);
  return at == std::string::npos ? "" : path.substr(0, at + name.size() - 1);
}

void pin_git_directory(std::vector<FileFact>& pinned, const std::string& member) {
  const std::string directory = git_directory_of(member);
  const auto is_it = [&](const FileFact& fact) { return fact.path == directory; };
  if (directory.empty() || std::any_of(pinned.begin(), pinned.end(), is_it)) return;
  struct stat seen {};
  if (::lstat(directory.c_str(), &seen) == 0 && S_ISDIR(seen.st_mode))
    pinned.push_back(fact_from(seen, directory));
}

Result<std::vector<std::string>> mount_points() {
  constexpr size_t most_bytes = 16 << 20;
  std::vector<std::string> points;
  for (auto& mount : read_mount_table(TRY(sys::read_file("/proc/self/mountinfo", most_bytes))))
    points.push_back(std::move(mount.point));
  return points;
}

void add_tree(TreeFacts& found, TreeFacts more) {
  for (auto& fact : more.files) found.files.push_back(std::move(fact));
  add_leads(found.leads, more.leads);
  found.is_complete = found.is_complete && more.is_complete;
}

}  // namespace

Result<void> observe_protected(const RunRequest& request, Observation& seen) {
  GuardFacts& guard = seen.facts.guard;
  guard.roots = guarded_roots(request, seen.facts);
  guard.hidden.clear();
  for (const auto& own : seen.facts.hidden) guard.hidden.push_back(own.path);
  guard.mounts = request.level >= IsolationLevel::namespaces;
  guard.allowed = TRY(allowed_paths(request.allow_protected, seen.facts.workspace.path, guard.roots));
  TRY(judge_roots(guard.roots, guard.allowed));
  if (!guard.mounts) {
    auto points = TRY(mount_points());
    for (size_t i = 0; i < request.grants.size(); ++i)  // named for what they are
      if (request.grants[i].writable) std::erase(points, seen.facts.grants[i].path);
    TRY(judge_mounts_below(guard.roots, points));
  }
  TRY(observe_protected_again(seen));
  for (const auto& root : guard.roots) {
    if (are_hooks_of_repository(root))
      guard.leads.push_back(lead_fact({root, LeadFact::Kind::hooks}, trace_symlinks(root)));
  }
  return judge_led_roots(guard);
}

Result<void> observe_protected_again(Observation& seen) {
  GuardFacts& guard = seen.facts.guard;
  guard.pinned.clear();
  TreeFacts found{.is_complete = true};
  const TreeQuery query{seen.facts.state.path, guard.hidden, guard.git};
  for (const auto& root : guard.roots) {
    if (root == seen.facts.workspace.path && seen.facts.workspace.inode == 0) continue;  // not made yet
    TreeFacts in_tree;
    TRY(look_at_tree(root, query, in_tree, seen.held));
    add_tree(found, std::move(in_tree));
  }
  guard.files = std::move(found.files);
  guard.leads = std::move(found.leads);
  guard.is_complete = found.is_complete;
  for (auto& fact : guard.files) {
    const bool kept = fact.kept && !meets_allowed(guard.allowed, fact.file.path);
    fact.kept = kept && guard.mounts;
    if (fact.kept) pin_git_directory(guard.pinned, fact.file.path);
  }
  // A look that was due may have found that it was a command's.
  FileFact& project = seen.facts.project_config;
  if (project.exists() && look_at(project.path).inode != project.inode) project = {};
  return {};
}

Result<void> observe_mounts_below(Facts& facts) {
  for (const auto& point : TRY(mount_points())) {
    FileFact fact = look_at(point);
    fact.path = point;
    if (!fact.exists())
      fact.kind = FileFact::Kind::directory;  // not ours to look at: a mount point all the same
    facts.mounts_below.push_back(std::move(fact));
  }
  return {};
}

}  // namespace cloche
