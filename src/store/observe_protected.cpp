#include <sys/stat.h>

#include <algorithm>

#include "base/mount_table.hpp"
#include "base/path.hpp"
#include "base/sys.hpp"
#include "policy/guarded.hpp"
#include "store/observe.hpp"
#include "store/protected_walk.hpp"
#include "store/system_facts.hpp"

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

}  // namespace

Result<void> observe_protected(const RunRequest& request, Observation& seen) {
  GuardFacts& guard = seen.facts.guard;
  guard.roots = guarded_roots(request, seen.facts);
  guard.hidden.clear();
  for (const auto& own : seen.facts.hidden) guard.hidden.push_back(own.path);
  guard.mounts = request.rung >= Rung::namespaces;
  guard.allowed = TRY(allowed_paths(request.allow_protected, seen.facts.workspace.path, guard.roots));
  TRY(judge_roots(guard.roots, guard.allowed));
  if (!guard.mounts) {
    auto points = TRY(mount_points());
    for (size_t i = 0; i < request.grants.size(); ++i)  // named for what they are
      if (request.grants[i].writable) std::erase(points, seen.facts.grants[i].path);
    TRY(judge_mounts_below(guard.roots, points));
  }
  return observe_protected_again(seen);
}

Result<void> observe_protected_again(Observation& seen) {
  GuardFacts& guard = seen.facts.guard;
  guard.files.clear();
  guard.pinned.clear();
  for (const auto& root : guard.roots)
    TRY(look_before(root, guard.files, seen.held, guard.hidden, guard.git));
  for (auto& fact : guard.files) {
    const bool kept = fact.kept && !meets_allowed(guard.allowed, fact.file.path);
    fact.kept = kept && guard.mounts;
    if (fact.kept) pin_git_directory(guard.pinned, fact.file.path);
  }
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
