#include "store/tree_steps.hpp"

#include <limits.h>
#include <linux/openat2.h>

#include "base/path.hpp"
#include "base/sys.hpp"

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

RootMeaning meaning_of_tree(const std::string& root) {
  RootMeaning meaning = meaning_of_root(root);
  if (meaning.part == GitPart::none && lies_in_repository(root)) meaning.part = GitPart::inside;
  return meaning;
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
