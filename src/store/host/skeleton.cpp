#include "store/host/skeleton.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>

#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/sha256.hpp"
#include "model/plan.hpp"

namespace cloche {
namespace {

constexpr size_t most_copied_files = 4096;
constexpr uint64_t most_copied_bytes = 16ULL << 20;

// Which entries a part holds: those that lie in nothing else, divided by /etc.
std::vector<const ViewEntry*> entries_of(const ConfinementPlan& plan, SkeletonPart part) {
  std::vector<const ViewEntry*> entries;
  const Holders holders(plan);
  for (const auto& entry : plan.view) {
    const bool in_etc = is_beneath("/etc", entry.target) && entry.target != "/etc";
    if (in_etc == (part == SkeletonPart::etc) && holders.of(entry) == Holder::root) entries.push_back(&entry);
  }
  return entries;
}

std::string key_of(const std::vector<const ViewEntry*>& entries, SkeletonPart part) {
  std::string text = part == SkeletonPart::etc ? "etc 2\n" : "root 2\n";
  for (const ViewEntry* entry : entries) {
    const bool still = entry->kind == EntryKind::link || entry->kind == EntryKind::text || entry->copied;
    text += name_of(entry->kind);
    text += entry->file ? " file " : " ";
    text += entry->access == Access::device ? "device " : (entry->copied ? "copied " : " ");
    text += entry->target;
    if (still) ((text += '\n') += entry->source + '\n' + entry->content) += std::to_string(entry->mode);
    text += '\0';
  }
  return Sha256().add(text).finish();
}

// The manifest's first byte: whether the device nodes could be made.
constexpr char with_devices = 'd';
constexpr char without_devices = '-';

// Then one line for each copied file: the numbers that change when the file does, then its path up to a NUL.
struct Identity {
  uint64_t device, inode, size;
  int64_t modified_s, modified_ns, changed_s, changed_ns;
};

Identity identity_of(const struct stat& seen) {
  return {seen.st_dev,         seen.st_ino,          static_cast<uint64_t>(seen.st_size),
          seen.st_mtim.tv_sec, seen.st_mtim.tv_nsec, seen.st_ctim.tv_sec,
          seen.st_ctim.tv_nsec};
}

// Until one is not as it should be.
bool all_of(std::string_view manifest, const std::function<bool(const char* path, const Identity&)>& check) {
  if (manifest.empty()) return false;
  manifest.remove_prefix(1);
  while (!manifest.empty()) {
    Identity then{};
    if (manifest.size() <= sizeof then) return false;
    std::memcpy(&then, manifest.data(), sizeof then);
    manifest.remove_prefix(sizeof then);
    const size_t end = manifest.find('\0');
    if (end == std::string_view::npos || !check(manifest.data(), then)) return false;
    manifest.remove_prefix(end + 1);
  }
  return true;
}

bool is_current(std::string_view manifest) {
  return all_of(manifest, [](const char* path, const Identity& then) {
    struct stat seen {};
    if (::lstat(path, &seen) != 0) return false;
    const Identity now = identity_of(seen);
    return std::memcmp(&now, &then, sizeof now) == 0;
  });
}

constexpr size_t most_manifest_bytes = 4 << 20;

// Not one that a server or another host may change.
bool is_local(const char* path) {
  constexpr unsigned long local[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC, F2FS_SUPER_MAGIC,
                                     TMPFS_MAGIC};
  struct statfs seen {};
  return ::statfs(path, &seen) == 0 &&
         std::ranges::find(local, static_cast<unsigned long>(seen.f_type)) != std::end(local);
}

class Builder {
 public:
  // `above` is what the targets begin with and the root stands for: "" or "/etc".
  Builder(std::string root, std::string_view above) : root_(std::move(root)), above_(above.size()) {}

  Result<void> add(const ViewEntry& entry) {
    const std::string path = root_ + entry.target.substr(above_);
    TRY(make_directories(std::string(parent_of(path))));
    switch (entry.kind) {
      case EntryKind::link:
        if (::symlink(entry.source.c_str(), path.c_str()) != 0) return system_error("link " + path);
        return {};
      case EntryKind::text: return write(path, entry.content, entry.mode);
      case EntryKind::tree:
        if (entry.copied) return copy(entry.source, path, 0);
        if (entry.access == Access::device && make_device(entry.source, path)) return {};
        return entry.file ? write(path, "", 0644) : make_directories(path);
      case EntryKind::directory:
      case EntryKind::tmpfs:
      case EntryKind::proc:
      case EntryKind::terminals:
      case EntryKind::queues: return make_directories(path);
    }
    return {};
  }

  std::string manifest() const { return (devices_ ? with_devices : without_devices) + manifest_; }

 private:
  // Root's own business, and useless where the file system shows no devices: all of them, or none.
  bool make_device(const std::string& source, const std::string& path) {
    struct stat seen {};
    struct statfs below {};
    devices_ = devices_ && ::stat(source.c_str(), &seen) == 0 && S_ISCHR(seen.st_mode) &&
               ::statfs(root_.c_str(), &below) == 0 && (below.f_flags & ST_NODEV) == 0 &&
               ::mknod(path.c_str(), S_IFCHR | 0666, seen.st_rdev) == 0 && ::chmod(path.c_str(), 0666) == 0;
    return devices_;
  }

  Result<void> make_directories(const std::string& path) {
    if (path.size() <= root_.size()) return {};
    TRY(make_directories(std::string(parent_of(path))));
    if (::mkdir(path.c_str(), 0755) != 0)
      return errno == EEXIST ? Result<void>() : system_error("make " + path);
    if (::chmod(path.c_str(), 0755) != 0) return system_error("make " + path);  // whatever the umask is
    return {};
  }

  static Result<void> write(const std::string& path, std::string_view bytes, unsigned mode) {
    auto file = TRY(sys::open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode));
    TRY(sys::write_all(file.get(), bytes));
    if (::fchmod(file.get(), mode) != 0) return system_error("make " + path);
    return {};
  }

  Result<void> copy(const std::string& from, const std::string& to, int depth) {
    struct stat seen {};
    if (::lstat(from.c_str(), &seen) != 0) return system_error("copy " + from);
    if (S_ISLNK(seen.st_mode)) {
      const std::string says = TRY(sys::read_link(from));
      if (::symlink(says.c_str(), to.c_str()) != 0) return system_error("link " + to);
      return {};
    }
    // What other users may not read on the host they may not read in a copy.
    const mode_t needed = S_ISDIR(seen.st_mode) ? S_IROTH | S_IXOTH : S_IROTH;
    if ((seen.st_mode & needed) != needed) return {};
    files_ += 1;
    bytes_ += static_cast<uint64_t>(seen.st_size);
    if (files_ > most_copied_files || bytes_ > most_copied_bytes || depth > 16)
      return system_error("copy " + from, EFBIG);
    const Identity identity = identity_of(seen);
    manifest_.append(reinterpret_cast<const char*>(&identity), sizeof identity);
    manifest_.append(from.c_str(), from.size() + 1);
    if (S_ISDIR(seen.st_mode)) {
      TRY(make_directories(to));
      for (const auto& name : names_in(from)) TRY(copy(from + "/" + name, to + "/" + name, depth + 1));
      return {};
    }
    if (!S_ISREG(seen.st_mode)) return {};  // nothing else belongs into a view
    auto text = sys::read_file(from, most_copied_bytes);
    // Not ours to read is not there for the command either: it has no more rights than we have.
    if (!text.ok() && text.error().number == EACCES) return {};
    if (!text.ok()) return text.take_error();
    return write(to, text.value(), 0644);
  }

  std::string root_;
  size_t above_;
  bool devices_ = true;
  std::string manifest_;
  size_t files_ = 0;
  uint64_t bytes_ = 0;
};

Result<Skeleton> open_current(const std::string& home) {
  Skeleton skeleton;
  skeleton.lock = TRY(sys::open(home, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  struct stat seen {};
  if (::fstat(skeleton.lock.get(), &seen) != 0 || seen.st_uid != ::geteuid() || (seen.st_mode & 022) != 0) {
    return system_error("trust " + home, EPERM);
  }
  if (::flock(skeleton.lock.get(), LOCK_SH | LOCK_NB) != 0) return system_error("hold " + home);
  const std::string manifest = TRY(sys::read_file_at(skeleton.lock.get(), "manifest", most_manifest_bytes));
  if (!is_current(manifest)) return system_error("use " + home, ESTALE);
  struct statfs below {};
  skeleton.has_devices = manifest.front() == with_devices && ::fstatfs(skeleton.lock.get(), &below) == 0 &&
                         (below.f_flags & ST_NODEV) == 0;
  skeleton.root = home + "/root";
  if (::fstatat(skeleton.lock.get(), "root", &seen, AT_SYMLINK_NOFOLLOW) != 0)
    return system_error("use " + home);
  skeleton.device = seen.st_dev;
  skeleton.inode = seen.st_ino;
  return skeleton;
}

// Deletes what was replaced or never finished, and the oldest when there are many, unless a call holds it.
void clean(const std::string& folder, int most_deleted) {
  constexpr size_t most_kept = 64;
  struct Candidate {
    bool replaced;
    int64_t made;
    std::string path;
  };
  std::vector<Candidate> candidates;
  for (const auto& name : names_in(folder)) {
    struct stat seen {};
    const std::string path = folder + "/" + name;
    if (::lstat(path.c_str(), &seen) != 0) continue;
    candidates.push_back({name.find('.') != std::string::npos, seen.st_mtim.tv_sec, path});
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return a.replaced != b.replaced ? a.replaced : a.made < b.made;
  });
  int deleted = 0;
  for (const auto& candidate : candidates) {
    const bool too_many = candidates.size() - static_cast<size_t>(deleted) > most_kept;
    if (deleted == most_deleted || (!candidate.replaced && !too_many)) return;
    auto lock = sys::open(candidate.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!lock.ok() || ::flock(lock.value().get(), LOCK_EX | LOCK_NB) != 0) continue;
    remove_tree(candidate.path);
    ++deleted;
  }
}

Result<void> build(const std::vector<const ViewEntry*>& entries, SkeletonPart part, const std::string& folder,
                   const std::string& home) {
  if (!make_private_directories(folder)) return system_error("make " + folder);
  constexpr int a_few = 2;  // because a call is waiting
  clean(folder, a_few);
  static std::atomic<unsigned> counter{0};
  const std::string fresh = home + ".new-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
  if (::mkdir(fresh.c_str(), 0700) != 0) return system_error("make " + fresh);
  // Held while it is built, so that no other call deletes it.
  const OwnedFd lock = TRY(sys::open(fresh, O_RDONLY | O_DIRECTORY));
  ::flock(lock.get(), LOCK_SH);
  if (::mkdir((fresh + "/root").c_str(), 0755) != 0 || ::chmod((fresh + "/root").c_str(), 0755) != 0)
    return system_error("make " + fresh);
  const bool root = part == SkeletonPart::root;
  if (root && ::mkdir((fresh + "/root/etc").c_str(), 0755) != 0) return system_error("make " + fresh);
  Builder builder(fresh + "/root", root ? "" : "/etc");
  for (const ViewEntry* entry : entries) TRY(builder.add(*entry));
  auto manifest = TRY(sys::open(fresh + "/manifest", O_WRONLY | O_CREAT | O_EXCL, 0600));
  TRY(sys::write_all(manifest.get(), builder.manifest()));
  // Another call may have built the same meanwhile; one that is current is never taken away from its users.
  if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, home.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno != EEXIST) return system_error("keep " + home);
  if (open_current(home).ok()) {
    remove_tree(fresh);
  } else {
    // Stale: what was there takes our temporary name, and is cleaned away when its last user is gone.
    (void)::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, home.c_str(), RENAME_EXCHANGE);
  }
  return {};
}

std::string folder_in(const std::string& state) { return state + "/skeletons"; }

}  // namespace

void clear_skeletons(const std::string& state) { clean(folder_in(state), std::numeric_limits<int>::max()); }

std::string skeleton_home(const ConfinementPlan& plan, SkeletonPart part, const std::string& state) {
  const auto entries = entries_of(plan, part);
  return state.empty() || entries.empty() ? "" : folder_in(state) + "/" + key_of(entries, part);
}

Result<Skeleton> take_skeleton(const ConfinementPlan& plan, SkeletonPart part, const std::string& state) {
  if (state.empty()) return system_error("keep a skeleton", ENOENT);
  const std::string home = skeleton_home(plan, part, state);
  if (home.empty()) return Skeleton{};
  auto current = open_current(home);
  if (current.ok()) return current;
  TRY(build(entries_of(plan, part), part, folder_in(state), home));
  return open_current(home);
}

SkeletonWatch::SkeletonWatch()
    : inotify_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)), sees_all_(inotify_.get() >= 0) {}

void SkeletonWatch::add(const Skeleton& skeleton) {
  const bool is_new = !skeleton.root.empty() && watched_.insert(skeleton.root).second;
  if (is_new && sees_all_) sees_all_ = watch(skeleton);
}

bool SkeletonWatch::watch(const Skeleton& skeleton) {
  const auto manifest = sys::read_file_at(skeleton.lock.get(), "manifest", most_manifest_bytes);
  if (!manifest.ok()) return false;
  constexpr uint32_t changes = IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVE |
                               IN_DELETE_SELF | IN_MOVE_SELF | IN_DONT_FOLLOW;
  // The directories above it, one of which may be put out of the way with all that is in it.
  const auto watches_above = [&](const char* path) {
    constexpr uint32_t moves = IN_MOVE_SELF | IN_DELETE_SELF | IN_ONLYDIR | IN_MASK_ADD;
    for (std::string above(parent_of(path)); above != "/"; above = std::string(parent_of(above)))
      if (::inotify_add_watch(inotify_.get(), above.c_str(), moves) < 0) return false;
    return true;
  };
  const bool all = all_of(manifest.value(), [&](const char* path, const Identity&) {
    return is_local(path) && watches_above(path) && ::inotify_add_watch(inotify_.get(), path, changes) >= 0;
  });
  return all && is_current(manifest.value());  // what changed before it was watched
}

bool SkeletonWatch::is_unchanged() const { return sees_all_ && !has_seen_one(); }

bool SkeletonWatch::has_seen_one() const {
  pollfd event{inotify_.get(), POLLIN, 0};
  return sees_all_ && ::poll(&event, 1, 0) != 0;
}

}  // namespace cloche
