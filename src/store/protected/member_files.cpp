#include "store/protected/member_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "base/sys/sys.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

class Search {
 public:
  explicit Search(const MemberFileTest& test) : test_(test) {}

  bool is_so(int parent, const std::string& name, const std::string& path, size_t depth = 0) {
    const auto seen = look_in(parent, name);
    if (!seen || ++names_ > most_member_names || depth > most_member_depth) return false;
    if (S_ISDIR(seen->st_mode)) return is_so_inside(parent, name, path, depth);
    const auto content = content_of_member(parent, name, *seen);
    found_ = content && test_(path, *seen, *content);
    return found_;
  }
  bool has_found() const { return found_; }

 private:
  bool is_so_inside(int parent, const std::string& name, const std::string& path, size_t depth) {
    const OwnedFd fd = open_child(parent, name.c_str(), directory_flags);
    bool all = fd.get() >= 0;
    if (!all) return false;
    const bool read = for_each_name(fd.get(), [&](const dirent& entry) {
      all = is_so(fd.get(), entry.d_name, joined(path, entry.d_name), depth + 1);
      return all;
    });
    return read && all;
  }

  const MemberFileTest& test_;
  size_t names_ = 0;
  bool found_ = false;
};

}  // namespace

std::optional<std::string> content_of_member(int parent, const std::string& name, const struct stat& seen) {
  if (S_ISLNK(seen.st_mode)) {
    char says[4096];
    const ssize_t length = ::readlinkat(parent, name.c_str(), says, sizeof says);
    if (length <= 0 || static_cast<size_t>(length) == sizeof says) return std::nullopt;
    return std::string(says, static_cast<size_t>(length));
  }
  if (!S_ISREG(seen.st_mode) || static_cast<size_t>(seen.st_size) > most_member_bytes) return std::nullopt;
  const OwnedFd fd = open_child(parent, name.c_str(), O_RDONLY);
  auto text = fd ? sys::read_all(fd.get(), most_member_bytes) : system_error("read it");
  return text.ok() ? std::optional(std::move(text).value()) : std::nullopt;
}

bool every_file_is(const HeldRoot& root, const std::string& path, const MemberFileTest& test) {
  const auto parent = open_parent(root.fd.get(), path);
  Search search(test);
  return parent.ok() && search.is_so(parent.value().get(), last_of(path), path) && search.has_found();
}

}  // namespace cloche
