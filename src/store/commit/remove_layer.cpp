#include "store/commit/remove_layer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "base/text/random_word.hpp"
#include "base/text/visible_text.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

Error removal_error(const std::string& name) { return system_error("remove '" + shown(name) + "'"); }

// Removes the files of one directory and moves its directories up, beside it, under names of ours: so the
// depth of a tree costs neither descriptors nor stack.
class Removal {
 public:
  Removal(int directory, std::string prefix) : directory_(directory), prefix_(std::move(prefix)) {}

  Result<void> run(const std::string& name) {
    std::vector<std::string> todo{name};
    while (!todo.empty()) {
      const std::string next = std::move(todo.back());
      todo.pop_back();
      TRY(empty(next, todo));
      if (::unlinkat(directory_, next.c_str(), AT_REMOVEDIR) != 0) return removal_error(next);
    }
    return {};
  }

 private:
  Result<OwnedFd> open(int parent, const std::string& name) const {
    struct stat seen {};
    const OwnedFd held = open_child(parent, name.c_str(), O_PATH | O_DIRECTORY);
    if (!held || ::fstat(held.get(), &seen) != 0) return removal_error(name);
    // overlayfs leaves directories of mode 000, and a directory can only be moved by a user who may write it.
    if ((seen.st_mode & 0700U) != 0700U && !open_to_owner(parent, name, seen)) return removal_error(name);
    OwnedFd fd = open_child(parent, name.c_str(), directory_flags);
    if (!fd) return removal_error(name);
    return fd;
  }

  Result<void> empty(const std::string& name, std::vector<std::string>& todo) {
    const OwnedFd fd = TRY(open(directory_, name));
    for (;;) {
      std::vector<std::string> names;
      if (::lseek(fd.get(), 0, SEEK_SET) != 0) return removal_error(name);
      const bool is_read = for_each_name(fd.get(), [&](const dirent& entry) {
        names.emplace_back(entry.d_name);
        return names.size() < 4096;
      });
      if (!is_read) return removal_error(name);
      if (names.empty()) return {};
      for (const auto& entry : names) TRY(take(fd.get(), entry, todo));
    }
  }

  Result<void> take(int parent, const std::string& name, std::vector<std::string>& todo) {
    if (::unlinkat(parent, name.c_str(), 0) == 0) return {};
    if (errno != EISDIR && errno != EPERM) return removal_error(name);
    TRY(open(parent, name));
    todo.push_back(prefix_ + std::to_string(moved_++));
    if (::renameat(parent, name.c_str(), directory_, todo.back().c_str()) != 0) return removal_error(name);
    return {};
  }

  int directory_;
  std::string prefix_;
  size_t moved_ = 0;
};

}  // namespace

Result<void> remove_entry(int directory, const std::string& name) {
  if (::unlinkat(directory, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  if (errno != EISDIR && errno != EPERM) return removal_error(name);
  constexpr size_t letters = 10;
  return Removal(directory, "gone-" + TRY(random_word(letters)) + "-").run(name);
}

}  // namespace cloche
