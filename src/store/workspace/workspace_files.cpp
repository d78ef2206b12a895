#include "store/workspace/workspace_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/sys/path.hpp"
#include "base/sys/read_at.hpp"
#include "base/sys/sys.hpp"
#include "base/text/command_words.hpp"
#include "policy/protected/protected.hpp"
#include "store/workspace/file_walk.hpp"
#include "store/workspace/open_beneath.hpp"

namespace cloche {
namespace {

Error not_regular(const std::string& path, mode_t mode) {
  const char* kind = S_ISDIR(mode)    ? "a directory"
                     : S_ISFIFO(mode) ? "a FIFO"
                     : S_ISSOCK(mode) ? "a socket"
                                      : "a device";
  return {
      Cause::system, "'" + shown(path) + "' is " + kind + ", and only regular files are read", EINVAL, {}};
}

Result<struct stat> status_of(int fd, const std::string& path) {
  struct stat seen {};
  if (::fstat(fd, &seen) != 0) return path_error(path, errno);
  return seen;
}

}  // namespace

Result<HeldWorkspace> HeldWorkspace::open(const Permit& permit, const WriteOptions& options) {
  OwnedFd root(::fcntl(permit.prepared().seen.workspace(), F_DUPFD_CLOEXEC, 0));
  if (!root) return system_error("hold the workspace");
  HiddenPaths hidden = TRY(HiddenPaths::read(permit.facts().hide));
  return HeldWorkspace(std::move(root), permit.facts().workspace.path, std::move(hidden), options);
}

Result<std::string> HeldWorkspace::place_of(int fd) const {
  const std::string root = TRY(sys::path_of(root_.get()));
  const std::string path = TRY(sys::path_of(fd));
  if (!is_beneath(root, path)) return path_error(path, EXDEV);
  return path == root ? std::string() : path.substr(root == "/" ? 1 : root.size() + 1);
}

Result<HeldWorkspace::Found> HeldWorkspace::find(const std::string& path, int flags) const {
  Found found = TRY(open_where_it_leads(path, flags));
  if (is_cloches_own(found.place)) return leads_to_cloches_own(path);
  if (hides(found.place)) return leads_to_hidden(path);
  return found;
}

Result<HeldWorkspace::Found> HeldWorkspace::open_where_it_leads(const std::string& path, int flags) const {
  // Nearly always the path crosses no link, and then it is the resolved path.
  auto direct = open_beneath(root_.get(), path, flags, Links::refused, path);
  if (direct.ok()) return Found{std::move(direct).value(), path};
  if (direct.error().number != ELOOP) return std::move(direct).take_error();
  auto fd = TRY(open_beneath(root_.get(), path, flags, Links::followed, path));
  auto place = TRY(place_of(fd.get()));
  return Found{std::move(fd), std::move(place)};
}

Error leads_to_cloches_own(const std::string& path) {
  return {Cause::system, "'" + shown(path) + "' leads to what is Cloche's own", EACCES, {}};
}

Error leads_to_hidden(const std::string& path) {
  return {Cause::system, "'" + shown(path) + "' is hidden, and no call reads it", EACCES, {}};
}

Result<FilePart> HeldWorkspace::read(const std::string& path, uint64_t offset, uint64_t most) {
  return read_found(TRY(find(path, O_RDONLY)).fd.get(), path, offset, most);
}

Result<FilePart> read_found(int fd, const std::string& path, uint64_t offset, uint64_t most) {
  const auto before = TRY(status_of(fd, path));
  if (!S_ISREG(before.st_mode)) return not_regular(path, before.st_mode);
  const auto size = static_cast<uint64_t>(before.st_size);
  FilePart part;
  if (offset < size) {
    auto bytes = sys::read_at(fd, offset, std::min(most, size - offset), path);
    if (!bytes.ok()) return path_error(path, bytes.error().number);
    part.bytes = std::move(bytes).value();
  }
  const auto after = TRY(status_of(fd, path));
  part.size = static_cast<uint64_t>(after.st_size);
  part.stamp = stamp_of(before);
  return part;
}

Result<WorkspaceFiles::Replaced> HeldWorkspace::replace(const std::string& path, std::string_view bytes,
                                                        const std::optional<FileStamp>& only_if) {
  FileReplacement replacement(root_.get(), path);
  auto done = replacement.run(bytes, only_if, options_);
  if (!done.ok()) replacement.undo();
  return done;
}

Result<Walked> HeldWorkspace::walk(const std::string& path, const WalkLimits& limits, const Visit& visit) {
  auto found = TRY(find(path, O_PATH));
  const auto seen = TRY(status_of(found.fd.get(), path));
  const IsHidden is_hidden = [&](const std::string& place) { return hides(place); };
  FileWalk walk(found.fd.get(), path, found.place, is_hidden, limits, visit);
  return S_ISDIR(seen.st_mode) ? walk.directory() : walk.single(kind_of(seen.st_mode));
}

}  // namespace cloche
