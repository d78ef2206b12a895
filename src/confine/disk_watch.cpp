#include "confine/disk_watch.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>

#include <algorithm>
#include <memory>
#include <set>

#include "base/sys.hpp"
#include "confine/process_table.hpp"

namespace cloche {
namespace {

struct Free {
  uint64_t bytes = 0;
  uint64_t files = 0;
};

Free free_of(int directory) {
  struct statvfs seen {};
  if (::fstatvfs(directory, &seen) != 0) return {};
  return {static_cast<uint64_t>(seen.f_bfree) * seen.f_frsize, seen.f_ffree};
}

uint64_t drop(uint64_t before, uint64_t now) { return before > now ? before - now : 0; }

// Adds up what changed since the start; a file counts once however many names it has.
class Walk {
 public:
  Walk(uint64_t device, int64_t since) : device_(device), since_(since) {}

  void directory(OwnedFd fd, int depth) {
    if (depth > 200) return;
    const int at = fd.get();
    const std::unique_ptr<DIR, int (*)(DIR*)> dir(::fdopendir(fd.release()), ::closedir);
    while (dir != nullptr) {
      const dirent* entry = ::readdir(dir.get());
      if (entry == nullptr) break;
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      struct stat seen {};
      if (::fstatat(at, entry->d_name, &seen, AT_SYMLINK_NOFOLLOW) != 0 || seen.st_dev != device_) continue;
      count(seen);
      if (!S_ISDIR(seen.st_mode)) continue;
      auto below = sys::open_at(at, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      if (below.ok()) directory(std::move(below).value(), depth + 1);
    }
  }

  void count(const struct stat& seen) {
    // The change time cannot be set by the owner, unlike the modification time.
    if (seen.st_dev != device_ || seen.st_ctim.tv_sec < since_ || !counted_.insert(seen.st_ino).second)
      return;
    growth_.bytes += static_cast<uint64_t>(seen.st_blocks) * 512;
    growth_.files += 1;
  }

  const DiskGrowth& growth() const { return growth_; }

 private:
  uint64_t device_;
  int64_t since_;
  std::set<uint64_t> counted_;
  DiskGrowth growth_;
};

// Deleted and still open: in no directory, and on the disk all the same.
void add_deleted(int table, Walk& walk) {
  for_each_process(table, [&](const std::string& process) {
    auto fds = sys::open_at(table, process + "/fd", O_RDONLY | O_DIRECTORY);
    if (!fds.ok()) return;
    const int at = fds.value().get();
    const std::unique_ptr<DIR, int (*)(DIR*)> dir(::fdopendir(fds.value().release()), ::closedir);
    while (dir != nullptr) {
      const dirent* entry = ::readdir(dir.get());
      if (entry == nullptr) break;
      struct stat seen {};
      if (::fstatat(at, entry->d_name, &seen, 0) == 0 && S_ISREG(seen.st_mode) && seen.st_nlink == 0)
        walk.count(seen);
    }
  });
}

}  // namespace

DiskWatch::DiskWatch(const std::vector<std::string>& roots, uint64_t byte_limit, uint64_t file_limit)
    : byte_limit_(byte_limit), file_limit_(file_limit), started_seconds_(::time(nullptr) - 1) {
  for (const auto& path : roots) {
    auto directory = sys::open(path, O_PATH | O_DIRECTORY);
    struct stat seen {};
    if (!directory.ok() || ::fstat(directory.value().get(), &seen) != 0) continue;
    const Free free = free_of(directory.value().get());
    roots_.push_back({std::move(directory).value(), seen.st_dev, free.bytes, free.files});
  }
}

std::optional<DiskGrowth> DiskWatch::beyond_limit(int process_table) {
  DiskGrowth total;
  std::set<uint64_t> devices;
  for (const auto& root : roots_) {
    const Free now = free_of(root.directory.get());
    const DiskGrowth gone{drop(root.free_bytes, now.bytes), drop(root.free_files, now.files)};
    const bool countless = root.free_files == 0;  // a file system that has no fixed number of files
    if (!countless && gone.bytes <= byte_limit_ && gone.files <= file_limit_) continue;
    Walk walk(root.device, started_seconds_);
    auto readable = sys::open_at(root.directory.get(), ".", O_RDONLY | O_DIRECTORY);
    if (readable.ok()) walk.directory(std::move(readable).value(), 0);
    if (process_table >= 0 && devices.insert(root.device).second) add_deleted(process_table, walk);
    total.bytes += std::min(walk.growth().bytes, gone.bytes);
    total.files += countless ? walk.growth().files : std::min(walk.growth().files, gone.files);
  }
  if (total.bytes > byte_limit_ || total.files > file_limit_) return total;
  return std::nullopt;
}

}  // namespace cloche
