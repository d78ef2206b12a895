#include "store/layers/layered_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/text/visible_text.hpp"
#include "store/workspace/open_beneath.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {

// A directory that is made where one of the project was deleted shows nothing of that one.
Result<void> LayeredFiles::hide_lower(int upper, const std::string& name) const {
  if (::unlinkat(upper, name.c_str(), 0) != 0 || ::mkdirat(upper, name.c_str(), 0777) != 0)
    return system_error("make " + shown(name));
  const std::string attribute = std::string(prefix_of(attributes_)) + "opaque";
  const OwnedFd made = open_child(upper, name.c_str(), O_RDONLY | O_DIRECTORY);
  if (made &&
      ::fsetxattr(made.get(), attribute.c_str(), opaque_is_whole.data(), opaque_is_whole.size(), 0) == 0)
    return {};
  return system_error("make " + shown(name));
}

// One step down in both layers; `lower` is none where the project has no such directory, or it is hidden.
// False: from here on they are new.
Result<bool> LayeredFiles::mirror_directory(OwnedFd& lower, OwnedFd& upper, const std::string& name,
                                            const std::string& path) const {
  const auto above = look_in(upper.get(), name);
  const auto below = lower ? look_in(lower.get(), name) : std::nullopt;
  bool shows_lower = below && S_ISDIR(below->st_mode);
  if (above && S_ISCHR(above->st_mode)) {
    TRY(hide_lower(upper.get(), name));
    shows_lower = false;
  } else if (above && !S_ISDIR(above->st_mode)) {
    return path_error(path, S_ISLNK(above->st_mode) ? ELOOP : ENOTDIR);
  } else if (above) {
    const std::string attribute = std::string(prefix_of(attributes_)) + "opaque";
    const OwnedFd held = open_child(upper.get(), name.c_str(), O_RDONLY | O_DIRECTORY);
    char value = 0;
    const bool is_opaque = held && ::fgetxattr(held.get(), attribute.c_str(), &value, 1) == 1 && value == 'y';
    shows_lower = shows_lower && !is_opaque;
  } else if (below && !shows_lower) {
    return path_error(path, S_ISLNK(below->st_mode) ? ELOOP : ENOTDIR);
  } else if (!below) {
    return false;
  } else {  // the same one: no change of its own
    if (::mkdirat(upper.get(), name.c_str(), 0700) != 0) return system_error("write " + shown(path));
    TRY(copy_entry_state(lower.get(), upper.get(), name, *below));
  }
  lower = shows_lower ? open_child(lower.get(), name.c_str(), O_RDONLY | O_DIRECTORY) : OwnedFd();
  upper = open_child(upper.get(), name.c_str(), O_RDONLY | O_DIRECTORY);
  if ((shows_lower && !lower) || !upper) return path_error(path, errno);
  return true;
}

Result<void> LayeredFiles::mirror_directories(const std::string& path) const {
  OwnedFd lower(::fcntl(layer_->lower.get(), F_DUPFD_CLOEXEC, 0));
  OwnedFd upper(::fcntl(layer_->upper.get(), F_DUPFD_CLOEXEC, 0));
  size_t begin = 0;
  for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', begin)) {
    const std::string name = path.substr(begin, slash - begin);
    begin = slash + 1;
    if (name.empty() || name == ".") continue;
    if (!TRY(mirror_directory(lower, upper, name, path))) break;
  }
  return {};
}

// Nothing: there is no such file.
Result<std::optional<struct stat>> LayeredFiles::look_at_old(const std::string& path) const {
  using Old = std::optional<struct stat>;
  if (staged_ && staged_->look(path).presence == BeforeAndAfter::Presence::absent) return Old();
  const OwnedFd old = staged_ ? staged_->open_file(path) : open_descendant(layer_->lower.get(), path, O_PATH);
  if (!old && staged_) return path_error(path, ELOOP);
  if (!old && errno != ENOENT) return path_error(path, errno);
  struct stat seen {};
  if (!old || ::fstat(old.get(), &seen) != 0) return Old();
  if (!S_ISREG(seen.st_mode)) return path_error(path, S_ISDIR(seen.st_mode) ? EISDIR : ELOOP);
  return Old(seen);
}

Result<void> LayeredFiles::remove_whiteout(const std::string& path) const {
  const OwnedFd directory = TRY(open_parent(layer_->upper.get(), path));
  if (::unlinkat(directory.get(), last_of(path).c_str(), 0) == 0) return {};
  return system_error("write " + shown(path));
}

Result<WorkspaceFiles::Replaced> LayeredFiles::replace(const std::string& path, std::string_view bytes,
                                                       const std::optional<FileStamp>& only_if) {
  if (layer_ == nullptr) return Error{.what = "nothing is written here"};
  const auto old = TRY(look_at_old(path));
  if (only_if && (!old || stamp_of(*old) != *only_if))
    return refusal(path + " was changed meanwhile", "read it again; nothing was changed");
  TRY(mirror_directories(path));
  const OwnedFd before = open_descendant(layer_->upper.get(), path, O_PATH);
  struct stat seen {};
  const bool is_above = before && ::fstat(before.get(), &seen) == 0;
  const bool is_in_layer = is_above && S_ISREG(seen.st_mode);
  if (is_above && S_ISCHR(seen.st_mode)) TRY(remove_whiteout(path));
  FileReplacement replacement(layer_->upper.get(), path);
  TRY(replacement.run(bytes, std::nullopt, {}));
  if (!old) return Replaced::made;
  if (is_in_layer) return Replaced::changed;  // it has kept what the layer had
  const OwnedFd lower = TRY(open_parent(layer_->lower.get(), path));
  const OwnedFd upper = TRY(open_parent(layer_->upper.get(), path));
  TRY(copy_entry_state(lower.get(), upper.get(), last_of(path), *old));
  // As the overlay marks what it copies up: so it is known by later calls that it was the project's.
  const OwnedFd fresh = open_child(upper.get(), last_of(path).c_str(), O_PATH);
  const std::string mark = std::string(prefix_of(attributes_)) + "origin";
  if (fresh)
    (void)::setxattr(("/proc/self/fd/" + std::to_string(fresh.get())).c_str(), mark.c_str(), "", 0, 0);
  return Replaced::changed;
}

}  // namespace cloche
