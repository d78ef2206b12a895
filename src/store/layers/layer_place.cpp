#include "store/layers/layer_place.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "jail/core/wire.hpp"
#include "store/commit/change_sets.hpp"

namespace cloche {
namespace {

constexpr const char* running = "/running";
constexpr const char* stored = "/stored";

std::optional<uint64_t> mount_of(int directory) {
  struct statx seen {};
  if (::statx(directory, "", AT_EMPTY_PATH, STATX_MNT_ID, &seen) != 0 || (seen.stx_mask & STATX_MNT_ID) == 0)
    return std::nullopt;
  return seen.stx_mnt_id;
}

// The kernel closes its own directories in `w` even to their owner.
void remove_layers(const std::string& directory) {
  for (const auto& number : names_in(directory)) {
    const std::string work = directory + "/" + number + "/" + wire::work_name;
    for (const auto& name : names_in(work)) ::chmod((work + "/" + name).c_str(), 0700);
  }
  remove_tree(directory);
}

// Left by calls that were killed: nothing of them has reached a project.
void sweep(const std::string& parent) {
  constexpr time_t being_made_s = 60;  // one that is being made is not locked yet
  for (const auto& name : names_in(parent)) {
    const std::string path = parent + "/" + name;
    const auto held = sys::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    struct stat seen {};
    if (!held.ok() || ::flock(held.value().get(), LOCK_EX | LOCK_NB) != 0) continue;
    if (::fstat(held.value().get(), &seen) == 0 && seen.st_ctime + being_made_s < ::time(nullptr))
      remove_layers(path);
  }
}

// Ours alone, and a directory: in /tmp another user could have made it first.
bool is_private(const std::string& directory) {
  struct stat seen {};
  return ::lstat(directory.c_str(), &seen) == 0 && S_ISDIR(seen.st_mode) && seen.st_uid == ::geteuid() &&
         (seen.st_mode & 077U) == 0;
}

// A layer in a repository would be a change in it.
bool lies_in_repository(std::string directory) {
  for (;; directory = std::string(parent_of(directory))) {
    if (::access((directory + "/.git").c_str(), F_OK) == 0) return true;
    if (directory == "/" || directory.empty()) return false;
  }
}

}  // namespace

bool are_on_one_mount(int one, int other) {
  const auto first = mount_of(one);
  return first && first == mount_of(other);
}

Result<std::string> find_layer_root(const std::string& tree, int held_tree, const std::string& state) {
  if (!state.empty()) {
    const std::string root = state + "/layers";
    if (!make_private_directories(root)) return system_error("make " + root);
    const auto held = sys::open(root, O_PATH | O_DIRECTORY | O_NOFOLLOW);
    if (held.ok() && are_on_one_mount(held.value().get(), held_tree)) return root;
  }
  const std::string beside(parent_of(tree));
  const auto held = sys::open(beside, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  const char* const fix = "write live: --live; or set XDG_STATE_HOME to a directory on that mount";
  if (!held.ok() || !are_on_one_mount(held.value().get(), held_tree))
    return refusal(tree + " is a mount of its own, and there is no place on it for what a call writes", fix);
  if (lies_in_repository(beside))
    return refusal(
        "there is no place for what a call writes to " + tree + ": " + beside + " lies in a repository", fix);
  return beside + (beside == "/" ? "" : "/") + ".cloche-layers-" + std::to_string(::geteuid());
}

Result<LayerPlace> LayerPlace::make(const std::string& root) {
  for (const std::string& directory : {root, root + running}) {
    if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) return system_error("make " + directory);
    if (!is_private(directory))
      return refusal(directory + " is not a directory of yours alone", "remove it, or write live: --live");
  }
  sweep(root + running);
  LayerPlace place;
  place.root_ = root;
  std::string name = root + running + "/call-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) return system_error("make a directory in " + root);
  place.directory_ = name;
  place.held_ = TRY(sys::open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  if (::flock(place.held_.get(), LOCK_EX | LOCK_NB) != 0) return system_error("lock " + name);
  return place;
}

LayerPlace::LayerPlace(LayerPlace&& other) noexcept
    : root_(std::move(other.root_)),
      directory_(std::exchange(other.directory_, {})),
      held_(std::move(other.held_)) {}

LayerPlace& LayerPlace::operator=(LayerPlace&& other) noexcept {
  std::swap(root_, other.root_);
  std::swap(directory_, other.directory_);
  std::swap(held_, other.held_);
  return *this;
}

LayerPlace::~LayerPlace() {
  if (!directory_.empty()) remove_layers(directory_);
}

Result<KnownDirectory> LayerPlace::keep(const std::string& id) {
  const std::string parent = root_ + stored;
  if (::mkdir(parent.c_str(), 0700) != 0 && errno != EEXIST) return system_error("make " + parent);
  const std::string kept = parent + "/" + id;
  if (::renameat2(AT_FDCWD, directory_.c_str(), AT_FDCWD, kept.c_str(), RENAME_NOREPLACE) != 0)
    return system_error("store what the call wrote as " + kept);
  directory_.clear();
  return know_directory(kept);
}

}  // namespace cloche
