#include "base/sys/directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string_view>

#include "base/sys/fd.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {

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

namespace {

using OpenDirectory = std::unique_ptr<DIR, int (*)(DIR*)>;

// Each entry but the two dots.
template <typename Visit>
void visit_entries(const OpenDirectory& dir, const Visit& visit) {
  while (dir != nullptr) {
    const dirent* entry = ::readdir(dir.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") visit(*entry);
  }
}

}  // namespace

void for_each_entry(const std::string& directory,
                    const std::function<void(std::string_view name, unsigned char type)>& visit) {
  visit_entries({::opendir(directory.c_str()), ::closedir},
                [&](const dirent& entry) { visit(entry.d_name, entry.d_type); });
}

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  for_each_entry(directory, [&](std::string_view name, unsigned char) { names.emplace_back(name); });
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> links_in(const std::string& directory) {
  std::vector<std::string> links;
  for_each_entry(directory, [&](std::string_view name, unsigned char type) {
    if (type == DT_LNK || type == DT_UNKNOWN) links.push_back(directory + "/" + std::string(name));
  });
  return links;
}

namespace {

// `parent` may be AT_FDCWD, for a path that the caller names.
OwnedFd open_directory_in(int parent, const char* name, int flags) {
  if (parent != AT_FDCWD) return open_child(parent, name, flags | O_DIRECTORY);
  return OwnedFd(::openat(parent, name, flags | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Its owner may remove it, whatever its mode says.
OwnedFd open_to_empty(int parent, const char* name) {
  OwnedFd fd = open_directory_in(parent, name, O_RDONLY);
  if (!fd && errno == EACCES) {
    // By what is held: the name may be a link by now.
    const OwnedFd closed = open_directory_in(parent, name, O_PATH);
    const std::string held = "/proc/self/fd/" + std::to_string(closed.get());
    if (closed && ::chmod(held.c_str(), 0700) == 0) fd = open_directory_in(parent, name, O_RDONLY);
  }
  if (fd) ::fchmod(fd.get(), 0700);
  return fd;
}

// Over nothing but an empty directory, which is to go as well.
void move_up(int from, const char* name, int top, unsigned& moved) {
  const OwnedFd opened = open_to_empty(from, name);  // one that cannot be written to cannot be moved either
  do {
    const std::string above = ".removed-" + std::to_string(moved++);
    if (::renameat2(from, name, top, above.c_str(), 0) == 0) return;
  } while (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR);
}

// Of what it holds, directories go up to `top` and all else goes.
bool remove_one(int top, const char* name, unsigned& moved) {
  if (::unlinkat(top, name, 0) == 0) return true;
  if (const int fd = open_to_empty(top, name).release(); fd >= 0) {
    visit_entries({::fdopendir(fd), ::closedir}, [&](const dirent& below) {
      if (::unlinkat(fd, below.d_name, 0) != 0) move_up(fd, below.d_name, top, moved);
    });
  }
  return ::unlinkat(top, name, AT_REMOVEDIR) == 0;
}

// By moving up what lies deeper: so three descriptors are enough, however deep a command nested its
// directories.
void empty_directory(int top) {
  unsigned moved = 0;
  for (bool removed = true; removed;) {
    removed = false;
    const int fd = ::openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    visit_entries({::fdopendir(fd), ::closedir},
                  [&](const dirent& entry) { removed = remove_one(top, entry.d_name, moved) || removed; });
  }
}

}  // namespace

void remove_tree(const std::string& directory) {
  const OwnedFd top = open_to_empty(AT_FDCWD, directory.c_str());
  if (top) empty_directory(top.get());
  ::rmdir(directory.c_str());
}

Result<void> remove_entry(int directory, const std::string& name) {
  if (::unlinkat(directory, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  const OwnedFd top = open_to_empty(directory, name.c_str());
  if (top) empty_directory(top.get());
  if (::unlinkat(directory, name.c_str(), AT_REMOVEDIR) == 0) return {};
  return system_error("remove '" + shown(name) + "'");
}

std::string foreign_part(const std::string& path) {
  struct stat seen {};
  for (std::string_view at = path;; at = parent_of(at)) {
    if (::lstat(std::string(at).c_str(), &seen) == 0) {
      const bool owner = seen.st_uid == 0 || seen.st_uid == ::geteuid();
      const bool closed = (seen.st_mode & 022) == 0 || (seen.st_mode & S_ISVTX) != 0;
      // Of a link it matters where it leads as well, and only the caller and root may have made it.
      if (!owner || (!S_ISLNK(seen.st_mode) && !closed)) return std::string(at);
      if (S_ISLNK(seen.st_mode)) {
        const auto held = sys::hold(std::string(at));
        if (!held.ok()) return std::string(at);
        if (std::string foreign = foreign_part(held.value().path); !foreign.empty()) return foreign;
      }
    } else if (errno != ENOENT) {
      return std::string(at);
    }
    if (at == "/") return {};
  }
}

bool is_ours_alone(const std::string& path) { return foreign_part(path).empty(); }

bool make_private_directories(const std::string& directory) {
  if (::access(directory.c_str(), F_OK) == 0) return true;  // to try to make it locks its parent
  if (::mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST) return true;
  if (errno != ENOENT || directory.size() <= 1) return false;
  if (!make_private_directories(std::string(parent_of(directory)))) return false;
  return ::mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST;  // another call may be first
}

}  // namespace cloche
