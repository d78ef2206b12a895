#include "confine/watch/disk_watch.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <memory>
#include <set>

#include "base/sys/sys.hpp"
#include "confine/watch/process_table.hpp"

namespace cloche {
namespace {

using Free = DiskGrowth;

Free free_of(int directory) {
  struct statfs seen {};
  if (::fstatfs(directory, &seen) != 0) return {};
  return {static_cast<uint64_t>(seen.f_bfree) * static_cast<uint64_t>(seen.f_frsize), seen.f_ffree};
}

uint64_t drop(uint64_t before, uint64_t now) { return before > now ? before - now : 0; }

DiskGrowth lost(const Free& before, const Free& now) {
  return {drop(before.bytes, now.bytes), drop(before.files, now.files)};
}

void add(DiskGrowth& total, const DiskGrowth& more) {
  total.bytes += more.bytes;
  total.files += more.files;
}

// Adds up what changed since the start; a file counts once however many names it has. A file that was made
// since then counts whole; of an older one that was written to it is not known how large it was, so it is
// kept apart.
class Walk {
 public:
  Walk(uint64_t device, int64_t since, uint64_t longest_ms)
      : device_(device), since_(since), deadline_ms_(sys::monotonic_ms() + longest_ms) {}

  bool is_late() const { return sys::monotonic_ms() > deadline_ms_; }

  void directory(OwnedFd fd, int depth) {
    if (is_late()) return;
    if (depth > deepest_walk) return note_hidden();
    const int at = fd.get();
    const std::unique_ptr<DIR, int (*)(DIR*)> dir(::fdopendir(fd.release()), ::closedir);
    while (dir != nullptr) {
      const dirent* entry = ::readdir(dir.get());
      if (entry == nullptr) break;
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (!count(at, entry->d_name, AT_SYMLINK_NOFOLLOW)) continue;
      auto below = sys::open_at(at, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      if (below.ok()) directory(std::move(below).value(), depth + 1);
      if (!below.ok() && below.error().number != ENOENT) note_hidden();  // closed to us
    }
  }

  // A file of a layer has the number of the overlay to those who have it open.
  static bool is_in_overlay(int at, const char* name) {
    const auto held = sys::open_at(at, name, O_PATH);
    struct statfs holds {};
    return held.ok() && ::fstatfs(held.value().get(), &holds) == 0 && holds.f_type == OVERLAYFS_SUPER_MAGIC;
  }

  // Whether it is a directory of this file system.
  bool count(int at, const char* name, int flags) {
    struct statx seen {};
    if (::statx(at, name, flags, STATX_BASIC_STATS | STATX_BTIME, &seen) != 0) return false;
    if (::makedev(seen.stx_dev_major, seen.stx_dev_minor) != device_ &&
        (flags == AT_SYMLINK_NOFOLLOW || !is_in_overlay(at, name)))
      return false;
    // The change time cannot be set by the owner, unlike the modification time.
    if (seen.stx_ctime.tv_sec >= since_ && counted_.insert(seen.stx_ino).second) {
      const uint64_t bytes = seen.stx_blocks * 512;
      const bool is_new = (seen.stx_mask & STATX_BTIME) != 0 && seen.stx_btime.tv_sec >= since_;
      (is_new ? made_ : touched_).bytes += bytes;
      (is_new ? made_ : touched_).files += 1;
    }
    return S_ISDIR(seen.stx_mode);
  }

  // A mapping keeps a deleted file alive without a descriptor, all of it, however little is mapped any more.
  // One of a layer has the number of the overlay, which cannot be asked for here: of what has no disk those
  // count that no memory of the sandbox's own holds.
  void note_mapped(const Mapping& mapping) {
    constexpr std::string_view in_memory[] = {"/dev/", "/memfd:", "/SYSV", "/tmp/", "/[aio]"};
    const bool is_of_memory = std::any_of(
        std::begin(in_memory), std::end(in_memory),
        [&](std::string_view start) { return std::string_view(mapping.name).starts_with(start); });
    if (mapping.device == device_ || (major(mapping.device) == 0 && !is_of_memory))
      mapped_.insert(mapping.inode);
  }

  // Something is there that may be of any size.
  void note_hidden() { hides_ = true; }
  bool hides_something() const {
    return hides_ || std::any_of(mapped_.begin(), mapped_.end(),
                                 [&](uint64_t inode) { return !counted_.contains(inode); });
  }

  uint64_t bytes() const { return made_.bytes + touched_.bytes; }

  // At most `gone` can have been taken by what was only touched.
  DiskGrowth growth(const DiskGrowth& gone) const {
    return {made_.bytes + std::min(touched_.bytes, drop(gone.bytes, made_.bytes)),
            made_.files + std::min(touched_.files, drop(gone.files, made_.files))};
  }

 private:
  static constexpr int deepest_walk = 200;

  uint64_t device_;
  int64_t since_;
  uint64_t deadline_ms_;
  bool hides_ = false;
  std::set<uint64_t> counted_;
  std::set<uint64_t> mapped_;
  DiskGrowth made_;
  DiskGrowth touched_;
};

// The file itself, for whom the kernel lets look there: root alone.
std::string mapped_file(const std::string& process, const Mapping& mapping) {
  const auto hexadecimal = [](uint64_t address) {
    std::array<char, 16> digits;
    return std::string(digits.data(),
                       std::to_chars(digits.data(), digits.data() + digits.size(), address, 16).ptr);
  };
  return process + "/map_files/" + hexadecimal(mapping.begin) + "-" +
         hexadecimal(mapping.begin + mapping.bytes);
}

bool count_if_deleted(Walk& walk, int at, const std::string& name) {
  struct stat seen {};
  if (::fstatat(at, name.c_str(), &seen, 0) != 0) return false;
  if (S_ISREG(seen.st_mode) && seen.st_nlink == 0) walk.count(at, name.c_str(), 0);
  return true;
}

// Deleted and still open or mapped: in no directory, and on the disk all the same.
void add_deleted(const ProcessTable& table, Walk& walk) {
  for_each_process(table, [&](const std::string& process) {
    const auto shown = memory_shown(table, process);
    const std::string& at = shown ? shown->at : process;
    const bool mapped = for_each_mapping(table, at, [&](const Mapping& mapping) {
      const bool deleted = mapping.name.ends_with(" (deleted)");
      if (deleted && !count_if_deleted(walk, table.directory, mapped_file(process, mapping)))
        walk.note_mapped(mapping);
      return !walk.is_late();
    });
    const bool looked = for_each_descriptor(table, process, [&](int fds, const std::string& name) {
      (void)count_if_deleted(walk, fds, name);
      return true;
    });
    if (!mapped || !looked) walk.note_hidden();
  });
}

// The caller's deadline waits meanwhile. What the call alone has made is no larger than its limits let it be.
constexpr uint64_t longest_walk_of_host_ms = 500;
constexpr uint64_t longest_walk_of_own_ms = 5000;
constexpr uint64_t walk_share = 10;  // walks that nothing new has given reason for take a tenth of the time

}  // namespace

DiskWatch::DiskWatch(const std::vector<WatchedTree>& trees, uint64_t byte_limit, uint64_t file_limit)
    : byte_limit_(byte_limit), file_limit_(file_limit), started_seconds_(::time(nullptr) - 1) {
  for (const auto& tree : trees) {
    auto directory = sys::open(tree.directory, O_PATH | O_DIRECTORY);
    struct stat seen {};
    if (!directory.ok() || ::fstat(directory.value().get(), &seen) != 0) continue;
    const Free free = free_of(directory.value().get());
    roots_.push_back({std::move(directory).value(), tree.whose, seen.st_dev, free, free});
  }
}

// By what the file systems have lost, and no walk: all of it may be the command's.
bool DiskWatch::may_be_beyond(uint64_t now_ms) {
  DiskGrowth since_walk = counted_;
  DiskGrowth since_start;
  bool is_countless = false;  // a file system that has no fixed number of files
  std::set<uint64_t> devices;
  for (auto& root : roots_) {
    const Free now = free_of(root.directory.get());
    // Another program gave space back.
    root.walked_at = {std::max(root.walked_at.bytes, now.bytes), std::max(root.walked_at.files, now.files)};
    is_countless = is_countless || root.at_start.files == 0;
    if (!devices.insert(root.device).second) continue;
    add(since_walk, {root.walked_at.bytes - now.bytes, root.walked_at.files - now.files});
    add(since_start, lost(root.at_start, now));
  }
  if (is_beyond(since_walk)) return true;
  // A command that moves its files about may have kept them from one walk, but hardly from all.
  return now_ms >= next_walk_ms_ && (is_countless || is_beyond(since_start));
}

DiskGrowth DiskWatch::measure(Root& root, const ProcessTable* table) {
  root.walked_at = free_of(root.directory.get());
  const DiskGrowth gone = lost(root.at_start, root.walked_at);
  const bool own = root.whose == TreeOf::call;
  Walk walk(root.device, started_seconds_, own ? longest_walk_of_own_ms : longest_walk_of_host_ms);
  auto readable = sys::open_at(root.directory.get(), ".", O_RDONLY | O_DIRECTORY);
  if (readable.ok()) walk.directory(std::move(readable).value(), 0);
  if (table != nullptr) add_deleted(*table, walk);
  const DiskGrowth growth = walk.growth(gone);
  // Only the command can have hidden something in a layer of the call's own.
  if (!own || !walk.hides_something()) return growth;
  return {std::max(growth.bytes, gone.bytes), std::max(growth.files, gone.files)};
}

std::optional<DiskGrowth> DiskWatch::beyond_limit(const ProcessTable& table) {
  const uint64_t begin_ms = sys::monotonic_ms();
  if (!may_be_beyond(begin_ms)) return std::nullopt;
  counted_ = {};
  std::set<uint64_t> devices;
  for (auto& root : roots_) {
    const bool is_first = devices.insert(root.device).second;
    add(counted_, measure(root, is_first && table.directory >= 0 ? &table : nullptr));
  }
  const uint64_t end_ms = sys::monotonic_ms();
  next_walk_ms_ = end_ms + (end_ms - begin_ms) * walk_share;
  return is_beyond(counted_) ? std::optional(counted_) : std::nullopt;
}

SizeWatch::SizeWatch(const std::string& directory, uint64_t most_bytes) : most_bytes_(most_bytes) {
  auto opened = sys::open(directory, O_PATH | O_DIRECTORY);
  struct stat seen {};
  if (!opened.ok() || ::fstat(opened.value().get(), &seen) != 0) return;
  directory_ = std::move(opened).value();
  device_ = seen.st_dev;
  size_ = measure();
  free_bytes_ = free_of(directory_.get()).bytes;
}

uint64_t SizeWatch::measure() const {
  constexpr int64_t ever = std::numeric_limits<int64_t>::min();
  Walk walk(device_, ever, longest_walk_of_own_ms);
  auto readable = sys::open_at(directory_.get(), ".", O_RDONLY | O_DIRECTORY);
  if (!readable.ok()) return untold;
  walk.directory(std::move(readable).value(), 0);
  return walk.hides_something() ? untold : walk.bytes();
}

std::optional<uint64_t> SizeWatch::beyond_limit() {
  if (!directory_) return std::nullopt;
  const uint64_t now = free_of(directory_.get()).bytes;
  free_bytes_ = std::max(free_bytes_, now);  // another program gave space back
  if (size_ <= most_bytes_ && free_bytes_ - now <= most_bytes_ - size_) return std::nullopt;
  return beyond_limit_exactly();
}

std::optional<uint64_t> SizeWatch::beyond_limit_exactly() {
  if (!directory_) return std::nullopt;
  free_bytes_ = free_of(directory_.get()).bytes;
  size_ = measure();
  return size_ > most_bytes_ ? std::optional(size_) : std::nullopt;
}

}  // namespace cloche
