#include "base/sys/mount_table.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <mutex>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/pieces.hpp"

namespace cloche {
namespace {

// \040 is a space.
std::string unescaped(std::string_view escaped) {
  std::string path;
  for (size_t i = 0; i < escaped.size(); ++i) {
    if (escaped[i] == '\\' && i + 3 < escaped.size()) {
      int code = 0;
      std::from_chars(escaped.data() + i + 1, escaped.data() + i + 4, code, 8);
      path += static_cast<char>(code);
      i += 3;
    } else {
      path += escaped[i];
    }
  }
  return path;
}

// The file stays open, because a poll of it says whether the table has changed since the last poll: the
// kernel remembers that for each open file.
class KnownTable {
 public:
  std::shared_ptr<const std::vector<Mount>> now() {
    const std::lock_guard held(lock_);
    struct stat space {};
    if (::stat("/proc/self/ns/mnt", &space) != 0) return nullptr;
    const bool is_same = file_ && space.st_ino == namespace_;
    if (is_same && table_ && !has_changed()) return table_;
    if (!is_same) {
      auto opened = sys::open("/proc/self/mountinfo", O_RDONLY);
      if (!opened.ok()) return table_ = nullptr;
      file_ = std::move(opened).value();
      namespace_ = space.st_ino;
    }
    return table_ = read();
  }

 private:
  bool has_changed() const {
    pollfd event{file_.get(), POLLPRI, 0};
    return ::poll(&event, 1, 0) != 0;
  }

  std::shared_ptr<const std::vector<Mount>> read() const {
    constexpr size_t most_bytes = size_t{16} << 20;
    if (::lseek(file_.get(), 0, SEEK_SET) != 0) return nullptr;
    const auto text = sys::read_all(file_.get(), most_bytes);
    if (!text.ok()) return nullptr;
    return std::make_shared<const std::vector<Mount>>(read_mount_table(text.value()));
  }

  std::mutex lock_;
  OwnedFd file_;
  ino_t namespace_ = 0;
  std::shared_ptr<const std::vector<Mount>> table_;
};

}  // namespace

std::shared_ptr<const std::vector<Mount>> mount_table() {
  static KnownTable known;
  return known.now();
}

std::vector<Mount> read_mount_table(std::string_view text) {
  std::vector<Mount> table;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    take_until(line, " ");  // its own number
    take_until(line, " ");  // its parent's
    const std::string_view device = take_until(line, " ");
    const std::string_view root = take_until(line, " ");
    const std::string_view point = take_until(line, " ");
    if (!point.empty()) table.push_back({std::string(device), unescaped(root), unescaped(point)});
  }
  return table;
}

std::optional<FileSystemPath> path_in_file_system(const std::vector<Mount>& table, const std::string& path) {
  const Mount* on = nullptr;
  for (const auto& mount : table) {
    if (is_beneath(mount.point, path) && (on == nullptr || mount.point.size() >= on->point.size()))
      on = &mount;
  }
  if (on == nullptr) return std::nullopt;
  const std::string below = on->point == "/" ? path : path.substr(on->point.size());
  if (below.empty() || below == "/") return FileSystemPath{on->device, on->root};
  return FileSystemPath{on->device, (on->root == "/" ? "" : on->root) + below};
}

}  // namespace cloche
