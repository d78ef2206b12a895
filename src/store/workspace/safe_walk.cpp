#include "store/workspace/safe_walk.hpp"

#include <limits.h>

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

std::string last_of(std::string_view path) { return std::string(name_in(path)); }

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

std::optional<struct stat> look_beneath(int root, std::string_view path) {
  const OwnedFd directory = open_descendant(root, directory_in(path), O_PATH | O_DIRECTORY);
  return directory ? look_in(directory.get(), last_of(path)) : std::nullopt;
}

}  // namespace cloche
