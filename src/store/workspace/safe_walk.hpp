// Opens files in a tree that a hostile command may have made: one name at a time, from a directory that is
// held.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/sys/directory.hpp"
#include "base/sys/fd.hpp"
#include "base/sys/path.hpp"
#include "model/facts.hpp"
#include "policy/protected/protected_directory.hpp"

namespace cloche {

inline constexpr int directory_flags = O_RDONLY | O_DIRECTORY;

// By errno: it is gone, is something else by now, or is another mount, which no command sees.
bool is_absent(int error);

// What keeps a walk out of a directory.
enum class Barrier {
  none,
  absent,
  closed,   // to us, and so to a command as well until it changes that
  unknown,  // none of these: there may be anything in it
};

struct OpenedDirectory {
  OwnedFd fd = {};
  Barrier barrier = Barrier::none;
  int error = 0;

  // Why it cannot be read.
  std::string describe(const std::string& path) const;
};

// As open_descendant, to read what is in it and to look at it: one without the other is of no use to a walk,
// but may be to a command.
OpenedDirectory open_directory(int root, std::string_view path);

// Lets the owner into a directory again that a command closed, perhaps to hide what is in it. False: it still
// is.
bool open_to_owner(int root, std::string_view path, const struct stat& seen);

// The directory of something in the tree, opened step by step without following a link.
Result<OwnedFd> open_parent(int root, const std::string& path);

// Whether it is git's by what is in it, so that nothing beside it says which checkout it is for.
bool is_found_by_content(const DirectoryNames& names, GitPart part);

// What the way to the root of a tree says by its names, and by what is on the disk: a bare repository's logs
// are git's under any name.
RootMeaning meaning_of_tree(const std::string& root);

// Of a repository that is none by its name.
bool are_hooks_of_repository(const std::string& root);

std::optional<struct stat> look_in(int directory, const std::string& name);
// The same of any number of names, as open_descendant goes.
std::optional<struct stat> look_beneath(int root, std::string_view path);
NameKind kind_in(int directory, const dirent& entry);
std::string link_text(int directory, const std::string& name);  // empty: it is none, or too long
ChangeTime change_of(const struct stat& seen);
std::string last_of(std::string_view path);  // name_in(), for a system call

inline bool is_dots(const char* name) {
  return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

// Every name of a directory that was opened just now; false: it could not be read to its end. Straight from
// the kernel, because the descriptor stays the caller's. Never inlined: walks are recursive, and the buffer
// need not be.
template <typename Visit>
[[gnu::noinline]] bool for_each_name(int directory, const Visit& visit) {
  alignas(dirent) char buffer[8192];
  for (;;) {
    const long filled = ::syscall(SYS_getdents64, directory, buffer, sizeof buffer);
    // Of one that was removed meanwhile nothing is left to read.
    if (filled <= 0) return filled == 0 || errno == ENOENT;
    for (long at = 0; at < filled;) {
      const auto* entry = reinterpret_cast<const dirent*>(buffer + at);
      at += entry->d_reclen;
      if (!is_dots(entry->d_name) && !visit(*entry)) return true;
    }
  }
}

}  // namespace cloche
