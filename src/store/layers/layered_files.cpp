#include "store/layers/layered_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/visible_text.hpp"
#include "store/workspace/open_beneath.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {

// Directories that the project has are the same ones in the layer: no change of theirs.
Result<void> LayeredFiles::mirror_directories(const std::string& path) const {
  std::string done;
  OwnedFd lower(::fcntl(layer_.lower.get(), F_DUPFD_CLOEXEC, 0));
  OwnedFd upper(::fcntl(layer_.upper.get(), F_DUPFD_CLOEXEC, 0));
  for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string name = path.substr(done.size(), slash - done.size());
    done = path.substr(0, slash + 1);
    if (name.empty() || name == ".") continue;
    const auto seen = look_in(lower.get(), name);
    if (!seen) return {};  // from here on they are new
    if (!S_ISDIR(seen->st_mode)) return path_error(path, S_ISLNK(seen->st_mode) ? ELOOP : ENOTDIR);
    if (::mkdirat(upper.get(), name.c_str(), 0700) != 0) return system_error("write " + shown(path));
    TRY(copy_entry_state(lower.get(), upper.get(), name, *seen));
    lower = open_child(lower.get(), name.c_str(), O_RDONLY | O_DIRECTORY);
    upper = open_child(upper.get(), name.c_str(), O_RDONLY | O_DIRECTORY);
    if (!lower || !upper) return path_error(path, errno);
  }
  return {};
}

Result<WorkspaceFiles::Replaced> LayeredFiles::replace(const std::string& path, std::string_view bytes,
                                                       const std::optional<FileStamp>& only_if) {
  const OwnedFd old = open_descendant(layer_.lower.get(), path, O_PATH);
  struct stat seen {};
  const bool exists = old && ::fstat(old.get(), &seen) == 0;
  if (!old && errno != ENOENT) return path_error(path, errno);
  if (exists && !S_ISREG(seen.st_mode)) return path_error(path, S_ISDIR(seen.st_mode) ? EISDIR : ELOOP);
  if (only_if && (!exists || stamp_of(seen) != *only_if))
    return refusal(path + " was changed meanwhile", "read it again; nothing was changed");
  TRY(mirror_directories(path));
  FileReplacement replacement(layer_.upper.get(), path);
  TRY(replacement.run(bytes, std::nullopt, {}));
  if (!exists) return Replaced::made;
  const OwnedFd lower = TRY(open_parent(layer_.lower.get(), path));
  const OwnedFd upper = TRY(open_parent(layer_.upper.get(), path));
  TRY(copy_entry_state(lower.get(), upper.get(), last_of(path), seen));
  return Replaced::changed;
}

}  // namespace cloche
