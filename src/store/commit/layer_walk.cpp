#include "store/commit/layer_walk.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <vector>

#include "base/text/visible_text.hpp"
#include "store/layers/layer_entry.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

class Walk {
 public:
  Walk(int top, ClosedDirectory closed, const VisitEntry& visit)
      : top_(top), closed_(closed), visit_(visit) {}
  ~Walk() { close_again(); }
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  Result<void> run() {
    todo_.emplace_back();
    while (!todo_.empty()) {
      const std::string path = std::move(todo_.back());
      todo_.pop_back();
      TRY(visit_directory(path));
    }
    return {};
  }

 private:
  struct Opened {
    std::string path;
    mode_t mode;
  };

  Result<void> visit_directory(const std::string& path);
  Result<OwnedFd> open(const std::string& path);
  OwnedFd hold(const std::string& path) const;
  Result<void> let_in(const std::string& path);
  void close_again();

  int top_;
  ClosedDirectory closed_;
  const VisitEntry& visit_;
  std::vector<std::string> todo_ = {};
  std::vector<Opened> opened_ = {};
};

Error walk_error(const std::string& path, int number = errno) {
  return system_error("read the directory '" + shown(path) + "'", number);
}

// Nothing for the top, which is held already: "." of a closed directory cannot be opened.
OwnedFd Walk::hold(const std::string& path) const {
  return path.empty() ? OwnedFd() : open_descendant(top_, path, O_PATH | O_DIRECTORY);
}

constexpr mode_t readable = S_IRUSR | S_IXUSR;

Result<void> Walk::let_in(const std::string& path) {
  struct stat seen {};
  const OwnedFd there = hold(path);
  const int fd = path.empty() ? top_ : there.get();
  if (fd < 0 || ::fstat(fd, &seen) != 0) return walk_error(path);
  if (!set_mode(fd, (seen.st_mode & 07777U) | S_IRWXU)) return walk_error(path);
  opened_.push_back({path, seen.st_mode & 07777U});
  return {};
}

// An invalid descriptor: it is passed.
Result<OwnedFd> Walk::open(const std::string& path) {
  OwnedFd fd = open_descendant(top_, path, directory_flags);
  if (!fd && errno != EACCES) return walk_error(path);
  struct stat seen {};
  if (fd && ::fstat(fd.get(), &seen) != 0) return walk_error(path);
  if (fd && (!is_bound_by_modes() || (seen.st_mode & readable) == readable)) return fd;
  if (closed_ == ClosedDirectory::passed) return OwnedFd();
  TRY(let_in(path));
  fd = open_descendant(top_, path, directory_flags);
  if (!fd) return walk_error(path);
  return fd;
}

Result<void> Walk::visit_directory(const std::string& path) {
  const OwnedFd fd = TRY(open(path));
  if (!fd) return {};
  Result<void> answer;
  const bool is_read = for_each_name(fd.get(), [&](const dirent& entry) {
    unsigned char type = entry.d_type;
    if (type == DT_UNKNOWN) {
      const auto seen = look_in(fd.get(), entry.d_name);
      if (seen) type = static_cast<unsigned char>(IFTODT(seen->st_mode));
    }
    answer = visit_({fd.get(), path, entry.d_name, type});
    if (answer.ok() && type == DT_DIR) todo_.push_back(joined(path, entry.d_name));
    return answer.ok();
  });
  if (!is_read) return walk_error(path);
  return answer;
}

void Walk::close_again() {
  for (; !opened_.empty(); opened_.pop_back()) {
    const auto& [path, mode] = opened_.back();
    const OwnedFd there = hold(path);
    (void)set_mode(path.empty() ? top_ : there.get(), mode);
  }
}

}  // namespace

Result<void> walk_below(int parent, const std::string& name, ClosedDirectory closed,
                        const VisitEntry& visit) {
  const OwnedFd top = open_child(parent, name.c_str(), O_PATH | O_DIRECTORY);
  if (!top) return walk_error(name);
  return Walk(top.get(), closed, visit).run();
}

}  // namespace cloche
