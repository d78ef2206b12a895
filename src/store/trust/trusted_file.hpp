// Files that the operator writes: configuration, sandbox profiles, command shapes. Whether another user or a
// command could have written one, or can replace one, is looked up here and judged by
// policy/authority/path_trust.hpp. The descriptor that was judged is the one that is read.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "policy/authority/path_trust.hpp"
#include "store/trust/bind_mount_alias.hpp"

namespace cloche {

// The user who runs Cloche.
Writers users_writers();

OwnerFact owner_fact(const struct stat& seen, const std::string& path);

struct TrustedFile {
  OwnedFd fd;
  std::string opened;  // every link followed
};

// A regular file that only these can have written.
Result<TrustedFile> open_operators_file(const std::string& path, const Writers& writers);
// The same, and only these can put another in its place.
Result<TrustedFile> open_trusted(const std::string& path, const Writers& writers);

// The directories and links by which the path led to what was opened.
Result<PathOwners> look_at_path_owners(const std::string& path, const TrustedFile& file);

// A directory that only these can write to or replace.
Result<void> check_operators_folder(const std::string& folder, const Writers& writers);

// All of its text; `path` is for messages.
Result<std::string> read_operators_file(int fd, const std::string& path, size_t most);

// What the kernel passes along a path, which is absolute: each file, directory and link, links followed one
// by one. Resolving the path at once would not show a link in the workspace, which a command can replace.
struct PassedPaths {
  std::vector<std::string> paths = {};
  bool absent = false;              // the last ones do not exist; no link is among them
  std::optional<Error> error = {};  // a link leads nowhere, or something could not be looked at
};
PassedPaths paths_passed(const std::string& path, MountCache& mounts);

// Whether the path passes the workspace. `workspace` is resolved; empty: there is none.
Result<Crossing> crossing_of(const std::string& path, const std::string& workspace);

// The same, with where the path ends. What cannot be followed counts as there: opening it gives the reason.
CrossingFact observe_crossing(const std::string& path, const std::string& workspace);

}  // namespace cloche
