#include "store/workspace/safe_walk.hpp"

#include <limits.h>
#include <linux/openat2.h>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "policy/protected/folded_name.hpp"

namespace cloche {
namespace {

bool is_repository(const std::string& directory) {
  for (const char* part : {"objects", "refs", "HEAD"}) {
    if (!look_in(AT_FDCWD, directory + "/" + part)) return false;
  }
  return true;
}

// Some directory on the way is a repository, and the next one is git's in it: not a checkout's.
bool lies_in_repository(std::string_view path) {
  while (path.size() > 1) {
    const std::string_view name = components_of(path).back();
    path = parent_of(path);
    if (is_name_of_git(name) && is_repository(std::string(path))) return true;
  }
  return false;
}

}  // namespace

bool are_hooks_of_repository(const std::string& root) {
  const auto names = components_of(root);
  return !names.empty() && folded_name(names.back()) == "hooks" &&
         is_repository(std::string(parent_of(root)));
}

RootMeaning meaning_of_tree(const std::string& root) {
  RootMeaning meaning = meaning_of_root(root);
  if (meaning.part == GitPart::none && lies_in_repository(root)) meaning.part = GitPart::inside;
  return meaning;
}

bool is_found_by_content(const DirectoryNames& names, GitPart part) {
  return names.is_worktree_part() || names.is_common_part() ||
         (names.is_git_directory() && part != GitPart::dot_git);
}

OwnedFd open_child(int directory, const char* name, int flags) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags) | O_CLOEXEC | O_NOFOLLOW;
  if ((flags & O_PATH) == 0) how.flags |= O_NONBLOCK | O_NOCTTY;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV;
  constexpr int tries = 16;  // EAGAIN: something was renamed meanwhile, by another call
  for (int i = 0; i < tries; ++i) {
    OwnedFd fd(static_cast<int>(::syscall(SYS_openat2, directory, name, &how, sizeof how)));
    if (fd || (errno != EAGAIN && errno != EINTR)) return fd;
  }
  return OwnedFd();
}

// In pieces that the kernel takes: a path that was made step by step may be longer.
OwnedFd open_descendant(int root, std::string_view path, int flags) {
  constexpr size_t longest_piece = 3072;
  OwnedFd at;
  while (path.size() > longest_piece) {
    const size_t end = path.rfind('/', longest_piece);
    if (end == std::string_view::npos) break;
    at = open_child(at ? at.get() : root, std::string(path.substr(0, end)).c_str(), O_PATH | O_DIRECTORY);
    if (!at) return at;
    path.remove_prefix(end + 1);
  }
  return open_child(at ? at.get() : root, path.empty() ? "." : std::string(path).c_str(), flags);
}

bool is_absent(int error) { return error == ENOENT || error == ENOTDIR || error == ELOOP || error == EXDEV; }

OpenedDirectory open_directory(int root, std::string_view path) {
  const auto can_be_searched = [](const OwnedFd& fd) { return look_in(fd.get(), ".") || errno != EACCES; };
  OpenedDirectory opened{open_descendant(root, path, directory_flags)};
  if (opened.fd && can_be_searched(opened.fd)) return opened;
  opened.error = opened.fd ? EACCES : errno;
  opened.fd = OwnedFd();
  opened.barrier = is_absent(opened.error) ? Barrier::absent : Barrier::unknown;
  if (opened.error != EACCES) return opened;
  // A command that knows the names in it needs only the right to search it.
  const OwnedFd there = open_descendant(root, path, O_PATH | O_DIRECTORY);
  if (!there || !can_be_searched(there)) opened.barrier = Barrier::closed;
  return opened;
}

std::string OpenedDirectory::describe(const std::string& path) const {
  if (error == EACCES) return "'" + path + "' can be entered, but not be read";
  return system_error("'" + path + "' could not be opened", error).what.text();
}

bool open_to_owner(int root, std::string_view path, const struct stat& seen) {
  const OwnedFd fd = open_descendant(root, path, O_PATH | O_DIRECTORY);
  const mode_t mode = (seen.st_mode & 0777U) | 0700U;
  return fd && ::chmod(("/proc/self/fd/" + std::to_string(fd.get())).c_str(), mode) == 0;
}

NameKind kind_in(int directory, const dirent& entry) {
  unsigned char type = entry.d_type;
  if (type == DT_UNKNOWN) {
    struct stat seen {};
    if (::fstatat(directory, entry.d_name, &seen, AT_SYMLINK_NOFOLLOW) == 0)
      type = static_cast<unsigned char>(IFTODT(seen.st_mode));
  }
  if (type == DT_DIR) return NameKind::directory;
  return type == DT_LNK ? NameKind::link : NameKind::other;
}

std::string joined(const std::string& directory, const std::string& name) {
  return directory.empty() ? name : directory + "/" + name;
}

std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

std::string last_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

ChangeTime change_of(const struct stat& seen) { return {seen.st_ctim.tv_sec, seen.st_ctim.tv_nsec}; }

Result<OwnedFd> open_parent(int root, const std::string& path) {
  OwnedFd at = TRY(sys::open_at(root, ".", O_PATH | O_DIRECTORY));
  const auto names = components_of(path);
  for (size_t i = 0; i + 1 < names.size(); ++i) {
    at = TRY(sys::open_at(at.get(), std::string(names[i]), O_PATH | O_DIRECTORY | O_NOFOLLOW));
  }
  return at;
}

std::string link_text(int directory, const std::string& name) {
  char text[PATH_MAX];
  const ssize_t length = ::readlinkat(directory, name.c_str(), text, sizeof text);
  const bool whole = length > 0 && static_cast<size_t>(length) < sizeof text;
  return whole ? std::string(text, static_cast<size_t>(length)) : std::string();
}

std::optional<struct stat> look_in(int directory, const std::string& name) {
  struct stat seen {};
  if (::fstatat(directory, name.c_str(), &seen, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return seen;
}

}  // namespace cloche
