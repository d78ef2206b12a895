#include "store/layers/layer_place.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/sys/directory.hpp"
#include "base/sys/sys.hpp"
#include "base/text/random_word.hpp"
#include "jail/core/wire.hpp"
#include "store/commit/change_sets.hpp"

namespace cloche {
namespace {

constexpr const char* running = "/running";
constexpr const char* spare = "/spare";
constexpr const char* stored = "/stored";
constexpr std::string_view ended = "ended-";  // in `running`: to be emptied, and of no use to anything else
constexpr const char* first_number = "0";

OwnedFd open_directory(int parent, const char* name) {
  return OwnedFd(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// What the kernel leaves of a work directory, by its names: reading the directories takes three times as
// long. False: it has left something else too.
bool empty_work(int layer) {
  const std::string work = wire::work_name + std::string("/work");
  // Each is closed even to its owner.
  if (::fchmodat(layer, work.c_str(), 0700, 0) != 0) return errno == ENOENT;
  for (const char* below : {"/incompat", "/incompat/volatile"}) {
    if (::fchmodat(layer, (work + below).c_str(), 0700, 0) != 0 && errno != ENOENT) return false;
  }
  ::unlinkat(layer, (work + "/incompat/volatile/dirty").c_str(), 0);
  for (const char* below : {"/incompat/volatile", "/incompat"})
    ::unlinkat(layer, (work + below).c_str(), AT_REMOVEDIR);
  return ::unlinkat(layer, work.c_str(), AT_REMOVEDIR) == 0;
}

// False too where it cannot be seen.
bool is_empty(const std::string& directory) {
  bool found = ::access(directory.c_str(), R_OK) != 0;
  for_each_entry(directory, [&](std::string_view, unsigned char) { found = true; });
  return !found;
}

// False: what was written there is still in one. They are not removed here: a file system that discards
// blocks at once waits for the disk.
bool has_empty_uppers(const std::string& directory) {
  for (int number = 0;; ++number) {
    const std::string layer = directory + "/" + std::to_string(number);
    if (::access(layer.c_str(), F_OK) != 0) return true;
    if (!is_empty(layer + "/" + wire::upper_name)) return false;
  }
}

// Of a directory of a call whose upper directories are empty: leaves the first layer with an empty work
// directory, which the next call needs as well. False: it cannot be used again.
bool empty_ended(int directory) {
  for (int number = 0;; ++number) {
    const std::string name = std::to_string(number);
    const OwnedFd layer = open_directory(directory, name.c_str());
    if (!layer) return errno == ENOENT;
    const bool has_upper = ::unlinkat(layer.get(), wire::upper_name, AT_REMOVEDIR) != 0 && errno != ENOENT;
    if (has_upper || !empty_work(layer.get())) return false;
    if (name == first_number) {  // and with a new upper one
      ::mkdirat(layer.get(), wire::upper_name, 0700);
      continue;
    }
    ::unlinkat(layer.get(), wire::work_name, AT_REMOVEDIR);
    if (::unlinkat(directory, name.c_str(), AT_REMOVEDIR) != 0) return false;
  }
}

// Left by calls that were killed: nothing of them has reached a project.
void sweep(const std::string& parent) {
  constexpr time_t being_made_s = 60;  // one that is being made is not locked yet
  for (const auto& name : names_in(parent)) {
    if (name.starts_with(ended)) continue;
    const std::string path = parent + "/" + name;
    const auto held = sys::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    struct stat seen {};
    if (!held.ok() || ::flock(held.value().get(), LOCK_EX | LOCK_NB) != 0) continue;
    if (::fstat(held.value().get(), &seen) == 0 && seen.st_ctime + being_made_s < ::time(nullptr))
      remove_tree(path);
  }
}

// Ours alone, and a directory: in /tmp another user could have made it first.
bool is_private(const std::string& directory) {
  struct stat seen {};
  return ::lstat(directory.c_str(), &seen) == 0 && S_ISDIR(seen.st_mode) && seen.st_uid == ::geteuid() &&
         (seen.st_mode & 077U) == 0;
}

// The kernel takes no upper layer on another overlay, as in containers, nor on what a server or another
// process may change behind its back. Without attributes it does, and cannot remove a directory in it.
bool can_hold_layers(const std::string& directory, OverlayAttributes attributes) {
  constexpr unsigned long unfit[] = {OVERLAYFS_SUPER_MAGIC, NFS_SUPER_MAGIC, FUSE_SUPER_MAGIC, V9FS_MAGIC,
                                     CIFS_SUPER_MAGIC,      SMB2_SUPER_MAGIC};
  struct statfs seen {};
  if (::statfs(directory.c_str(), &seen) != 0) return false;
  const auto* const found =
      std::find(std::begin(unfit), std::end(unfit), static_cast<unsigned long>(seen.f_type));
  const std::string mark = std::string(prefix_of(attributes)) + "cloche.layers";
  return found == std::end(unfit) && (::getxattr(directory.c_str(), mark.c_str(), nullptr, 0) >= 0 ||
                                      ::setxattr(directory.c_str(), mark.c_str(), "", 0, 0) == 0);
}

}  // namespace

std::string layers_in_memory() { return "/dev/shm/cloche-layers-" + std::to_string(::geteuid()); }

Result<std::string> find_layer_root(const std::string& state, OverlayAttributes attributes) {
  for (const std::string& root : {state + "/layers", layers_in_memory()}) {
    if (!make_private_directories(root))
      return refusal("there is no place for what a call writes: " + describe(system_error("make " + root)),
                     "set XDG_STATE_HOME to a directory that only you can change, or write live: --live");
    if (can_hold_layers(root, attributes)) return root;
  }
  return refusal("the file systems of " + state + " and /dev/shm cannot hold what a call writes",
                 "set XDG_STATE_HOME to a directory on a disk of this host, or write live: --live");
}

Result<LayerPlace> LayerPlace::make(const std::string& root) {
  for (const std::string& directory : {root, root + running, root + stored}) {
    if (is_private(directory)) continue;
    if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) return system_error("make " + directory);
    if (!is_private(directory))
      return refusal(directory + " is not a directory of yours alone", "remove it, or write live: --live");
  }
  sweep(root + running);
  LayerPlace place;
  place.root_ = root;
  constexpr size_t letters = 12;
  place.name_ = TRY(random_word(letters));
  const std::string directory = root + running + "/call-" + place.name_;
  if (::rename((root + spare).c_str(), directory.c_str()) != 0 && ::mkdir(directory.c_str(), 0700) != 0)
    return system_error("make a directory in " + root);
  place.directory_ = directory;
  place.held_ = TRY(sys::open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  // Another call may look at it for a moment, and leaves it alone then.
  if (::flock(place.held_.get(), LOCK_EX) != 0) return system_error("lock " + directory);
  return place;
}

void clear_ended_layers(const std::string& root) {
  const std::string parent = root + running;
  for (const auto& name : names_in(parent)) {
    if (!name.starts_with(ended)) continue;
    const std::string path = parent + "/" + name;
    const auto held = sys::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!held.ok() || ::flock(held.value().get(), LOCK_EX | LOCK_NB) != 0) continue;
    if (!stands_at(path, held.value().get())) continue;  // emptied by another call, and in use by a third
    if (!empty_ended(held.value().get()) ||
        ::renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, (root + spare).c_str(), RENAME_NOREPLACE) != 0)
      remove_tree(path);
  }
}

LayerPlace::LayerPlace(LayerPlace&& other) noexcept
    : root_(std::move(other.root_)),
      name_(std::move(other.name_)),
      directory_(std::exchange(other.directory_, {})),
      held_(std::move(other.held_)) {}

LayerPlace& LayerPlace::operator=(LayerPlace&& other) noexcept {
  std::swap(root_, other.root_);
  std::swap(name_, other.name_);
  std::swap(directory_, other.directory_);
  std::swap(held_, other.held_);
  return *this;
}

LayerPlace::~LayerPlace() {
  if (directory_.empty()) return;
  const std::string to = root_ + running + "/" + std::string(ended) + name_;
  if (!has_empty_uppers(directory_) || ::rename(directory_.c_str(), to.c_str()) != 0) remove_tree(directory_);
}

Result<KnownDirectory> LayerPlace::as_kept(const std::string& id) const {
  KnownDirectory known = TRY(know_directory(directory_));
  known.path = root_ + stored + "/" + id;
  return known;
}

Result<void> LayerPlace::keep(const std::string& id) {
  const std::string kept = root_ + stored + "/" + id;
  if (::renameat2(AT_FDCWD, directory_.c_str(), AT_FDCWD, kept.c_str(), RENAME_NOREPLACE) != 0)
    return system_error("store what the call wrote as " + kept);
  directory_.clear();
  return {};
}

void remove_orphans(const std::string& root, const std::function<bool(const std::string& id)>& is_known) {
  for (const auto& name : names_in(root + stored)) {
    const std::string path = root + stored + "/" + name;
    const auto held = sys::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!held.ok() || ::flock(held.value().get(), LOCK_EX | LOCK_NB) != 0) continue;
    if (!is_known(name)) remove_tree(path);
  }
}

}  // namespace cloche
