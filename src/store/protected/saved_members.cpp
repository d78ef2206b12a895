#include "store/protected/saved_members.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "policy/protected/protected_directory.hpp"
#include "store/protected/member_files.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

constexpr size_t most_bytes = size_t{8} << 20;

constexpr mode_t mode_bits = 07777;

Result<void> set_mode(int parent, const std::string& name, mode_t mode) {
  const OwnedFd fd = open_child(parent, name.c_str(), O_PATH | O_DIRECTORY);
  if (!fd || ::chmod(("/proc/self/fd/" + std::to_string(fd.get())).c_str(), mode & mode_bits) != 0)
    return system_error("give it its mode");
  return {};
}

// With what belongs to it besides its content, as far as we may.
Result<void> write_file(int parent, const std::string& name, const struct stat& like,
                        const std::string& content) {
  const OwnedFd fd = TRY(sys::open_at(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  TRY(sys::write_all(fd.get(), content));
  (void)!::fchown(fd.get(), like.st_uid, like.st_gid);
  if (::fchmod(fd.get(), like.st_mode & mode_bits) != 0) return system_error("give it its mode");
  const timespec times[2] = {like.st_atim, like.st_mtim};
  ::futimens(fd.get(), times);
  return {};
}

// Several calls of one process may put back the same at the same time.
std::string own_number() {
  static std::atomic<unsigned> counter{0};
  return std::to_string(counter++);
}

// What is to be put back, complete and beside its place, before anything there is touched: where there is no
// room for it, none of it is left.
class Beside {
 public:
  Beside(int parent, const struct stat& like, const std::string& content)
      : parent_(parent), name_(".cloche-put-back-" + std::to_string(::getpid()) + "-" + own_number()) {
    if (S_ISREG(like.st_mode)) {
      made_ = write_file(parent, name_, like, content);
    } else if (S_ISDIR(like.st_mode)) {
      if (::mkdirat(parent, name_.c_str(), 0700) != 0) made_ = system_error("make it");
      if (made_.ok()) made_ = set_mode(parent, name_, like.st_mode);
    } else if (::symlinkat(content.c_str(), parent, name_.c_str()) != 0) {
      made_ = system_error("make it");
    }
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;
  ~Beside() {
    const bool there = !moved_ && ::unlinkat(parent_, name_.c_str(), 0) != 0;
    if (there) ::unlinkat(parent_, name_.c_str(), AT_REMOVEDIR);
  }

  // To its place, where nothing is by now.
  Result<void> move_to(const std::string& name) {
    if (!made_.ok()) return made_.error();
    if (::renameat2(parent_, name_.c_str(), parent_, name.c_str(), RENAME_NOREPLACE) != 0)
      return system_error("give it its name");
    moved_ = true;
    return {};
  }

 private:
  int parent_;
  std::string name_;
  Result<void> made_ = {};
  bool moved_ = false;
};

// The directory around it, made anew where it is gone: a repository's configuration outlives its removal, as
// it does where it is a mount.
Result<OwnedFd> open_or_make_parent(int root, const std::string& path) {
  OwnedFd at = TRY(sys::open_at(root, ".", O_PATH | O_DIRECTORY));
  const auto names = components_of(path);
  for (size_t i = 0; i + 1 < names.size(); ++i) {
    const std::string name(names[i]);
    const bool made = look_in(at.get(), name) || ::mkdirat(at.get(), name.c_str(), 0755) == 0;
    if (!made && errno != EEXIST)  // by another call, which has the same to put back
      return system_error("make " + name);
    at = TRY(sys::open_at(at.get(), name, O_PATH | O_DIRECTORY | O_NOFOLLOW));
  }
  return at;
}

// The place of one member in a tree.
struct Place {
  OwnedFd parent;
  std::string name;
  std::optional<struct stat> now;
};

// Without making anything; nothing is there when the way to it is gone.
Place place_of(const HeldRoot& root, const std::string& path) {
  Place place{OwnedFd(), last_of(path), {}};
  auto parent = open_parent(root.fd.get(), path);
  if (!parent.ok()) return place;
  place.parent = std::move(parent).value();
  place.now = look_in(place.parent.get(), place.name);
  return place;
}

}  // namespace

void SavedMembers::save(const HeldRoot& root, const std::string& path, const Certainty& is_certain) {
  const auto parent = open_parent(root.fd.get(), path);
  if (parent.ok()) save_in(parent.value().get(), last_of(path), path, 0, is_certain);
}

bool SavedMembers::add(const std::string& path, Saved saved) {
  if (saved_.size() >= most_member_names || bytes_ + saved.content.size() > most_bytes) return false;
  const size_t size = saved.content.size();
  const bool is_new = saved_.emplace(path, std::move(saved)).second;
  if (is_new) bytes_ += size;
  return true;
}

void SavedMembers::save_in(int parent, const std::string& name, const std::string& path, size_t depth,
                           const Certainty& is_certain) {
  const auto seen = look_in(parent, name);
  if (!seen || depth > most_member_depth || !is_certain(change_of(*seen))) return;
  if (S_ISDIR(seen->st_mode)) {
    if (add(path, {*seen, ""})) save_directory(parent, name, path, depth, is_certain);
  } else if (auto content = content_of_member(parent, name, *seen)) {
    add(path, {*seen, std::move(*content)});
  }
}

void SavedMembers::save_directory(int parent, const std::string& name, const std::string& path, size_t depth,
                                  const Certainty& is_certain) {
  const OwnedFd fd = open_child(parent, name.c_str(), directory_flags);
  if (!fd) return;
  std::vector<std::string> names;
  for_each_name(fd.get(), [&](const dirent& entry) {
    if (!is_sample_hook(entry.d_name)) names.emplace_back(entry.d_name);
    return names.size() < most_member_names;
  });
  std::sort(names.begin(), names.end());
  for (const auto& child : names) save_in(fd.get(), child, joined(path, child), depth + 1, is_certain);
}

void SavedMembers::take_over(const SavedMembers& earlier) {
  for (const auto& [path, saved] : earlier.saved_) add(path, saved);
}

SavedMembers SavedMembers::without(const std::function<bool(const std::string& path)>& is_left) const {
  SavedMembers found = *this;
  std::erase_if(found.saved_, [&](const Entry& entry) { return is_left(entry.first); });
  return found;
}

SavedMembers SavedMembers::unchanged(const HeldRoot& root) const {
  SavedMembers found;
  for (const auto& entry : saved_) {
    const Place place = place_of(root, entry.first);
    if (place.now && is_as_it_was(entry, place.parent.get(), *place.now))
      found.add(entry.first, entry.second);
  }
  return found;
}

bool SavedMembers::has(const std::string& path, const struct stat& seen, const std::string& content) const {
  const auto found = saved_.find(path);
  return found != saved_.end() && is_same(found->second, seen, content);
}

// No name more than it had: by that one it could be changed later.
bool SavedMembers::is_same(const Saved& saved, const struct stat& now, const std::string& content) {
  return now.st_mode == saved.seen.st_mode && now.st_nlink <= saved.seen.st_nlink && content == saved.content;
}

bool SavedMembers::is_as_it_was(const Entry& entry, int parent, const struct stat& now) {
  if (S_ISDIR(now.st_mode)) return now.st_mode == entry.second.seen.st_mode;  // what is in it comes by itself
  const auto content = content_of_member(parent, last_of(entry.first), now);
  return content && is_same(entry.second, now, *content);
}

// Again when another call, which has the same to put back, was there between two steps.
Result<void> SavedMembers::put_back_one(const Entry& entry, const HeldRoot& root, Quarantine& quarantine,
                                        const Vouchers& vouchers, PutBack& done) {
  const auto& [path, saved] = entry;
  constexpr int most_tries = 16;
  for (int tries = 1;; ++tries) {
    const OwnedFd parent = TRY(open_or_make_parent(root.fd.get(), path));
    const std::string name = last_of(path);
    const auto now = look_in(parent.get(), name);
    if (now && is_as_it_was(entry, parent.get(), *now)) return {};
    if (now && S_ISDIR(now->st_mode) && S_ISDIR(saved.seen.st_mode))
      return set_mode(parent.get(), name, saved.seen.st_mode);
    Beside beside(parent.get(), saved.seen, saved.content);
    // In any case: what stands there is not what the host is to execute.
    if (now) {
      auto taken = TRY(quarantine.take(root, {path, "it was changed"}));
      if (taken) done.quarantined.push_back(std::move(*taken));
    }
    vouchers.vouch_for(path, saved.seen.st_mode, saved.content);
    const auto moved = beside.move_to(name);
    if (moved.ok()) break;
    const bool raced = moved.error().number == EEXIST || moved.error().number == ENOENT;
    if (!raced || tries >= most_tries) return moved;
  }
  done.restored.push_back(path);
  return {};
}

std::string SavedMembers::describe_loss(const Entry& entry, const Error& error, Quarantine& quarantine) {
  const auto& [path, saved] = entry;
  std::string text = "'" + path + "' could not be put back: " + describe(error);
  if (!S_ISREG(saved.seen.st_mode)) return text;
  const auto kept = quarantine.keep(last_of(path), saved.content);
  return text + (kept.ok() ? "; as it was it is kept at " + kept.value()
                           : "; there is no room for a copy of it either: " + describe(kept.error()));
}

SavedMembers::PutBack SavedMembers::put_back(const HeldRoot& root, Quarantine& quarantine,
                                             const Vouchers& vouchers, Places places) const {
  PutBack done;
  for (const auto& entry : saved_) {
    if (places == Places::empty && place_of(root, entry.first).now) continue;
    const auto put = put_back_one(entry, root, quarantine, vouchers, done);
    if (put.ok()) continue;
    if (!done.gap.empty()) done.gap += "; ";
    done.gap += describe_loss(entry, put.error(), quarantine);
  }
  return done;
}

}  // namespace cloche
