#include "store/workspace/file_replacement.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/command_words.hpp"
#include "base/text/random_word.hpp"
#include "store/workspace/open_beneath.hpp"

namespace cloche {
namespace {

constexpr mode_t new_file_mode = 0644;        // the kernel takes the umask off
constexpr mode_t new_directory_mode = 0755;   // likewise
constexpr mode_t preserved_mode_bits = 0777;  // not set-uid, set-gid and sticky

Error sentence(const std::string& path, const std::string& rest, int number) {
  return {Cause::system, "'" + shown(path) + "' " + rest, number, {}};
}

Result<std::string> unused_name() { return ".cloche-" + TRY(random_word(20)) + ".tmp"; }

// Of a file system that cannot exchange, and cannot fail when there is a file.
bool lacks_rename_flags(int number) { return number == EINVAL || number == ENOSYS; }

// Of a file system that has no unnamed files, or a kernel that does not know it.
bool means_no_unnamed_files(int number) {
  return number == EOPNOTSUPP || number == EISDIR || number == EINVAL || number == ENOSYS;
}

}  // namespace

FileStamp stamp_of(const struct stat& seen) {
  return {seen.st_dev, seen.st_ino, static_cast<uint64_t>(seen.st_size),
          int64_t{seen.st_mtim.tv_sec} * 1'000'000'000 + seen.st_mtim.tv_nsec};
}

Result<WorkspaceFiles::Replaced> FileReplacement::run(std::string_view bytes,
                                                      const std::optional<FileStamp>& only_if,
                                                      const WriteOptions& options) {
  TRY(hold_directory());
  TRY(open_fresh(options.fresh));
  TRY(fill_fresh(bytes, options.sync));
  const WorkspaceFiles::Replaced done = TRY(take_name(only_if));
  if (options.sync == FileSync::at_once) TRY(settle_name());
  return done;
}

Result<WorkspaceFiles::Replaced> FileReplacement::take_name(const std::optional<FileStamp>& only_if) {
  constexpr int tries = 100;  // others may make and remove the same name all the time
  for (int i = 0; i < tries; ++i) {
    const Target target = TRY(look_at(name_));
    if (!target && only_if) return path_error(path_, ENOENT);
    if (!target && TRY(take_free_name())) return WorkspaceFiles::Replaced::made;
    if (target && TRY(change_places(*target, only_if))) return WorkspaceFiles::Replaced::changed;
  }
  return path_error(path_, EAGAIN);
}

// A name is on the disk when its directory is, and a new directory when the one above it is.
Result<void> FileReplacement::settle_name() const {
  const auto settle = [this](int directory) -> Result<void> {
    const auto opened = sys::open_at(directory, ".", O_RDONLY | O_DIRECTORY);
    if (!opened.ok()) return path_error(path_, opened.error().number);
    if (::fsync(opened.value().get()) != 0) return path_error(path_, errno);
    return {};
  };
  TRY(settle(directory_.get()));
  for (const auto& made : made_) TRY(settle(made.parent.get()));
  return {};
}

void FileReplacement::undo() {
  if (!temporary_.empty()) ::unlinkat(directory_.get(), temporary_.c_str(), 0);
  // Innermost first, and only while empty: another process may use them by now.
  for (; !made_.empty(); made_.pop_back())
    ::unlinkat(made_.back().parent.get(), made_.back().name.c_str(), AT_REMOVEDIR);
}

// In one step when it is there, which is nearly always; else component by component.
Result<void> FileReplacement::hold_directory() {
  const auto names = components_of(path_);
  const bool plain =
      !names.empty() && !path_.starts_with('/') && std::find(names.begin(), names.end(), "..") == names.end();
  if (!plain) return sentence(path_, "is not the path of a file here", EINVAL);
  name_ = names.back();
  const std::string parent = path_.substr(0, static_cast<size_t>(names.back().data() - path_.data()));
  auto whole = open_beneath(root_, parent, O_PATH | O_DIRECTORY, Links::refused, path_);
  if (whole.ok()) {
    directory_ = std::move(whole).value();
    return {};
  }
  if (whole.error().number != ENOENT) return std::move(whole).take_error();
  directory_ = TRY(open_beneath(root_, ".", O_PATH | O_DIRECTORY, Links::refused, path_));
  for (size_t i = 0; i + 1 < names.size(); ++i)
    directory_ = TRY(next_directory(directory_.get(), std::string(names[i])));
  return {};
}

Result<OwnedFd> FileReplacement::next_directory(int parent, const std::string& name) {
  auto there = open_beneath(parent, name, O_PATH | O_DIRECTORY, Links::refused, path_);
  if (there.ok() || there.error().number != ENOENT) return there;
  return make_directory(parent, name);
}

Result<OwnedFd> FileReplacement::make_directory(int parent, const std::string& name) {
  const bool made = ::mkdirat(parent, name.c_str(), new_directory_mode) == 0;
  if (!made && errno != EEXIST) return path_error(path_, errno);  // EEXIST: another call was first
  auto directory = TRY(open_beneath(parent, name, O_PATH | O_DIRECTORY, Links::refused, path_));
  if (!made) return directory;
  auto held = TRY(open_beneath(parent, ".", O_PATH | O_DIRECTORY, Links::refused, path_));
  made_.push_back({std::move(held), name});
  struct stat above {};
  if (::geteuid() == 0 && ::fstat(parent, &above) == 0 && above.st_uid != 0 &&
      ::fchownat(directory.get(), "", above.st_uid, above.st_gid, AT_EMPTY_PATH) != 0)
    return path_error(path_, errno);
  return directory;
}

Result<void> FileReplacement::open_fresh(FreshFile fresh) {
  if (fresh == FreshFile::unnamed) {
    fresh_ = OwnedFd(::openat(directory_.get(), ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, new_file_mode));
    if (fresh_) return {};
    if (!means_no_unnamed_files(errno)) return path_error(path_, errno);
  }
  const std::string name = TRY(unused_name());
  fresh_ = OwnedFd(::openat(directory_.get(), name.c_str(),
                            O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, new_file_mode));
  if (!fresh_) return path_error(path_, errno);
  temporary_ = name;
  return {};
}

Result<void> FileReplacement::fill_fresh(std::string_view bytes, FileSync sync) {
  if (auto written = sys::write_all(fresh_.get(), bytes); !written.ok())
    return path_error(path_, written.error().number);
  if (sync == FileSync::at_once && ::fdatasync(fresh_.get()) != 0) return path_error(path_, errno);
  return give_to_owner(fresh_.get());
}

Result<FileReplacement::Target> FileReplacement::look_at(const std::string& name) const {
  struct stat seen {};
  if (::fstatat(directory_.get(), name.c_str(), &seen, AT_SYMLINK_NOFOLLOW) == 0) return Target(seen);
  if (errno == ENOENT) return Target();
  return path_error(path_, errno);
}

Result<void> FileReplacement::check_target(const struct stat& target,
                                           const std::optional<FileStamp>& only_if) const {
  if (S_ISLNK(target.st_mode))
    return sentence(path_, "is a link, and nothing is written through links: use the path it leads to",
                    ELOOP);
  if (S_ISDIR(target.st_mode)) return path_error(path_, EISDIR);
  if (!S_ISREG(target.st_mode)) return sentence(path_, "is not a regular file", EINVAL);
  if (only_if && *only_if != stamp_of(target))
    return sentence(path_, "was changed by another process meanwhile; read it again", EBUSY);
  return {};
}

// Replacing a file needs no permission of the old one. Where its owner took the permission to write away,
// that is respected all the same.
Result<void> FileReplacement::check_permission(const struct stat& target) const {
  const bool writable =
      (target.st_mode & 0222) != 0 && (::faccessat(directory_.get(), name_.c_str(), W_OK, AT_EACCESS) == 0 ||
                                       errno == ENOENT);  // gone since: nothing to ask any more
  if (!writable) return sentence(path_, "is read-only", EACCES);
  return {};
}

// What root writes into another user's workspace is given to that user, who could not use it otherwise.
Result<void> FileReplacement::give_to_owner(int fd) const {
  if (::geteuid() != 0) return {};
  struct stat holder {};
  if (::fstat(directory_.get(), &holder) != 0) return path_error(path_, errno);
  if (holder.st_uid == 0) return {};
  if (::fchown(fd, holder.st_uid, holder.st_gid) != 0) return path_error(path_, errno);
  return {};
}

bool FileReplacement::link_fresh(const std::string& name) const {
  if (::linkat(fresh_.get(), "", directory_.get(), name.c_str(), AT_EMPTY_PATH) == 0) return true;
  if (errno != ENOENT) return false;
  // Before Linux 6.10 the call above needs a capability, and says that there is no such file.
  const std::string by_descriptor = "/proc/self/fd/" + std::to_string(fresh_.get());
  return ::linkat(AT_FDCWD, by_descriptor.c_str(), directory_.get(), name.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

Result<void> FileReplacement::name_temporarily() {
  if (!temporary_.empty()) return {};
  const std::string name = TRY(unused_name());
  if (!link_fresh(name)) return path_error(path_, errno);
  temporary_ = name;
  return {};
}

Result<bool> FileReplacement::take_free_name() {
  const int directory = directory_.get();
  const bool taken =
      temporary_.empty()
          ? link_fresh(name_)
          : ::renameat2(directory, temporary_.c_str(), directory, name_.c_str(), RENAME_NOREPLACE) == 0 ||
                (lacks_rename_flags(errno) &&
                 ::renameat(directory, temporary_.c_str(), directory, name_.c_str()) == 0);
  if (taken) {
    temporary_.clear();
    return true;
  }
  if (errno == EEXIST) return false;
  return path_error(path_, errno);
}

Result<bool> FileReplacement::change_places(const struct stat& target,
                                            const std::optional<FileStamp>& only_if) {
  TRY(check_target(target, only_if));
  TRY(check_permission(target));
  if (::fchmod(fresh_.get(), target.st_mode & preserved_mode_bits) != 0) return path_error(path_, errno);
  TRY(name_temporarily());
  const int directory = directory_.get();
  if (::renameat2(directory, temporary_.c_str(), directory, name_.c_str(), RENAME_EXCHANGE) == 0) {
    TRY(remove_displaced(only_if));
    return true;
  }
  if (errno == ENOENT) return false;
  if (!lacks_rename_flags(errno) || ::renameat(directory, temporary_.c_str(), directory, name_.c_str()) != 0)
    return path_error(path_, errno);
  temporary_.clear();
  return true;
}

// The temporary name is now that of the old file, or of what was put in its place after it was checked.
Result<void> FileReplacement::remove_displaced(const std::optional<FileStamp>& only_if) {
  const std::string displaced = std::exchange(temporary_, "");
  const int directory = directory_.get();
  const Target target = TRY(look_at(displaced));
  if (!target) return {};  // another process has removed it
  if (auto checked = check_target(*target, only_if); !checked.ok()) {
    // Back, and the new one is ours to remove again.
    if (::renameat2(directory, displaced.c_str(), directory, name_.c_str(), RENAME_EXCHANGE) == 0)
      temporary_ = displaced;
    return checked;
  }
  ::unlinkat(directory, displaced.c_str(), 0);
  return {};
}

}  // namespace cloche
