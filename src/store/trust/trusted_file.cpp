#include "store/trust/trusted_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <utility>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "store/host/observe.hpp"
#include "store/host/system_facts.hpp"
#include "store/trust/bind_mount_alias.hpp"

namespace cloche {
namespace {

Result<OwnerFact> look_at_open(int fd, const std::string& path) {
  struct stat seen {};
  if (::fstat(fd, &seen) != 0) return system_error("look at " + path);
  return owner_fact(seen, path);
}

// `place` is absolute and resolved.
Result<std::vector<OwnerFact>> owners_above(const std::string& place) {
  std::vector<OwnerFact> above;
  for (std::string_view at = parent_of(place);; at = parent_of(at)) {
    struct stat seen {};
    const std::string directory(at);
    if (::stat(directory.c_str(), &seen) != 0) return system_error("look at " + directory);
    above.push_back(owner_fact(seen, directory));
    if (at == "/") return above;
  }
}

Result<PathOwners> owners_along(const std::string& place, const std::vector<std::string>& links) {
  PathOwners owners{.above = TRY(owners_above(place))};
  for (const auto& link : links) {
    struct stat seen {};
    if (::lstat(link.c_str(), &seen) != 0) return system_error("look at " + link);
    auto above = TRY(owners_above(link));
    owners.links.push_back({owner_fact(seen, link), std::move(above)});
  }
  return owners;
}

}  // namespace

Writers users_writers() { return {::geteuid(), true}; }

OwnerFact owner_fact(const struct stat& seen, const std::string& path) {
  return {.kind = fact_from(seen, path).kind,
          .path = path,
          .uid = seen.st_uid,
          .gid = seen.st_gid,
          .group_writes = (seen.st_mode & S_IWGRP) != 0,
          .others_write = (seen.st_mode & S_IWOTH) != 0,
          .sticky = (seen.st_mode & S_ISVTX) != 0};
}

Result<TrustedFile> open_operators_file(const std::string& path, const Writers& writers) {
  TrustedFile file{TRY(sys::open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)), {}};
  file.opened = TRY(sys::path_of(file.fd.get()));
  const OwnerFact fact = TRY(look_at_open(file.fd.get(), path));
  TRY(judge_operators_file(fact, writers));
  return file;
}

Result<PathOwners> look_at_path_owners(const std::string& path, const TrustedFile& file) {
  return owners_along(file.opened,
                      file.opened == path ? std::vector<std::string>{} : TRY(sys::walk(path)).turns);
}

Result<TrustedFile> open_trusted(const std::string& path, const Writers& writers) {
  TrustedFile file = TRY(open_operators_file(path, writers));
  const PathOwners owners = TRY(look_at_path_owners(path, file));
  TRY(judge_path_owners(owners, writers));
  return file;
}

Result<void> check_operators_folder(const std::string& folder, const Writers& writers) {
  const auto walked = TRY(sys::walk(folder));
  const OwnerFact fact = TRY(look_at_open(walked.fd.get(), folder));
  TRY(judge_operators_folder(fact, writers));
  return judge_path_owners(TRY(owners_along(walked.path, walked.turns)), writers);
}

Result<std::string> read_operators_file(int fd, const std::string& path, size_t most) {
  auto text = sys::read_all(fd, most);
  if (text.ok()) return text;
  TRY(judge_length(path, text.error().number == EFBIG, most));
  return system_error("read " + path, text.error().number);
}

PassedPaths paths_passed(const std::string& path, MountCache& mounts) {
  constexpr int most_links = 40;
  PassedPaths passed;
  const auto failed = [&](std::string doing, int number = errno) {
    passed.error = system_error(std::move(doing), number);
    return std::move(passed);
  };
  const auto written_parts = components_of(path);
  std::deque<std::string> rest(written_parts.begin(), written_parts.end());
  std::string here = "/";
  size_t written = rest.size();  // parts of the path itself that are still to come; others are a link's
  for (int links = 0; !rest.empty();) {
    const bool of_link = rest.size() > written;
    if (!of_link) --written;
    const std::string part = rest.front();
    rest.pop_front();
    const std::string next =
        part == ".." ? std::string(parent_of(here)) : (here == "/" ? "" : here) + "/" + part;
    const MountCache::Seen& seen = mounts.look(next);
    if (!passed.absent && seen.error != 0) {
      if (seen.error != ENOENT) return failed("look at " + next, seen.error);
      // There should be a file behind the link: perhaps it is only not mounted yet.
      if (of_link) return failed("follow a link of " + path, ENOENT);
      passed.absent = true;
    }
    here = next;
    passed.paths.push_back(next);
    if (passed.absent || !S_ISLNK(seen.mode)) continue;
    if (++links > most_links) return failed("follow " + path, ELOOP);
    const auto target = sys::read_link(next);
    if (!target.ok()) return failed("follow " + next, target.error().number);
    const auto parts = components_of(target.value());
    rest.insert(rest.begin(), parts.begin(), parts.end());
    here = target.value().starts_with('/') ? "/" : std::string(parent_of(next));
  }
  return passed;
}

Result<Crossing> crossing_of(const std::string& path, const std::string& workspace) {
  MountCache mounts;
  const PassedPaths passed = paths_passed(path, mounts);
  for (const auto& one : passed.paths) {
    if (workspace.empty()) break;
    if (is_beneath(workspace, one)) return Crossing::through_workspace;
    if (mounts.is_mounted_from(workspace, one)) return Crossing::through_mount;
  }
  if (passed.error) return *passed.error;
  return passed.absent ? Crossing::absent : Crossing::there;
}

CrossingFact observe_crossing(const std::string& path, const std::string& workspace) {
  const auto crossing = workspace.empty() ? Result<Crossing>(Crossing::there) : crossing_of(path, workspace);
  if (!crossing.ok() || crossing.value() == Crossing::there || crossing.value() == Crossing::absent)
    return {};
  CrossingFact fact{.crossing = crossing.value(), .workspace = workspace, .end = look_at_place(path).path};
  fact.ends_in = lies_in(workspace, fact.end);
  return fact;
}

}  // namespace cloche
