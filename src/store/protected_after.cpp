#include <time.h>
#include <algorithm>

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/path.hpp"
#include "base/sys.hpp"
#include "policy/git_config.hpp"
#include "policy/protected_directory.hpp"
#include "store/protected_walk.hpp"
#include "store/tree_steps.hpp"

namespace cloche {
namespace {

class Known {
 public:
  explicit Known(const std::vector<ProtectedFact>& facts) {
    for (const auto& fact : facts) {
      files_[{fact.file.device, fact.file.inode}] = &fact;
      if (fact.kept) kept_.insert(fact.file.path);
    }
  }
  const ProtectedFact* find(const struct stat& seen) const {
    const auto found = files_.find({seen.st_dev, seen.st_ino});
    return found != files_.end() ? found->second : nullptr;
  }
  // A directory that has come to a name is new by it, whatever is known of it by another: what is in it is
  // older.
  bool is_at(const struct stat& seen, const std::string& path) const {
    const ProtectedFact* fact = find(seen);
    return fact != nullptr && (!S_ISDIR(seen.st_mode) || fact->file.path == path);
  }
  bool is_unchanged(const struct stat& seen) const {
    const ProtectedFact* fact = find(seen);
    return fact != nullptr && fact->changed == change_of(seen);
  }
  bool is_kept(const std::string& path) const { return kept_.contains(path); }

 private:
  std::map<std::pair<uint64_t, uint64_t>, const ProtectedFact*> files_;
  std::set<std::string> kept_;
};

// Lets the owner into a directory again that the command closed, perhaps to hide what is in it.
void open_to_owner(int directory, const std::string& name, mode_t mode) {
  const OwnedFd fd = open_child(directory, name.c_str(), O_PATH | O_DIRECTORY);
  if (fd) ::chmod(("/proc/self/fd/" + std::to_string(fd.get())).c_str(), mode | 0700U);
}

class WalkAfter {
 public:
  WalkAfter(const std::string& root, const std::vector<ProtectedFact>& known, const ChangeTime& since,
            const LookLimits& limits)
      : root_(root),
        known_(known),
        since_(since),
        limits_(limits),
        deadline_ms_(sys::monotonic_ms() + limits.milliseconds) {}

  LookAfter take(int root) {
    look_in_directory({root, "", trail_to(root_), GitPart::none, false, 0});
    return std::move(found_);
  }

 private:
  struct Place {
    int fd;
    std::string path;
    Trail trail;
    GitPart part;
    bool way_is_new;  // it came by this name just now: everything in it did
    size_t depth;
  };

  bool is_touched(const struct stat& seen) const { return change_of(seen) >= since_; }
  bool is_new(const struct stat& seen, const std::string& path) const {
    return is_touched(seen) && !known_.is_at(seen, absolute(path));
  }

  void gap(const std::string& what) {
    if (found_.gap.empty()) found_.gap = what;
  }

  void suspect(const std::string& path, std::string reason) {
    constexpr size_t most_suspects = 10'000;
    if (found_.suspects.size() >= most_suspects) return gap("more than 10000 protected files were made");
    found_.suspects.push_back({path, std::move(reason)});
  }

  bool may_go_on() {
    constexpr unsigned directories_between_looks = 128;  // at the clock, which costs as much as a directory
    if (directories_++ % directories_between_looks == 0 && sys::monotonic_ms() >= deadline_ms_)
      stop("it took too long");
    return !stopped_;
  }

  // One name more; false: there are too many.
  bool count() {
    if (++names_ > limits_.names) stop("it holds more than " + std::to_string(limits_.names) + " names");
    return !stopped_;
  }

  void stop(const std::string& why) {
    gap(why);
    stopped_ = true;
  }

  void look_in_directory(const Place& here) {
    if (!may_go_on()) return;
    DirectoryNames names(here.trail, here.part);
    const bool read = for_each_name(here.fd, [&](const dirent& entry) {
      names.add(entry.d_name, kind_in(here.fd, entry));
      return count();
    });
    if (!read) gap("'" + here.path + "' could not be read");
    names.settle();
    const bool is_new_git = names.is_git_directory() && has_become_git(here);
    for (const auto& member : names.members()) judge(here, member, here.way_is_new || is_new_git);
    for (const auto& sub : names.subdirectories()) descend(here, sub);
  }

  // It is new, or what makes it one is: then git obeys what was in it before too.
  bool has_become_git(const Place& here) const {
    struct stat seen {};
    if (::fstat(here.fd, &seen) == 0 && is_new(seen, here.path)) return true;
    for (const char* name : {"objects", "refs"}) {
      const auto part = look_in(here.fd, name);
      if (part && is_new(*part, joined(here.path, name))) return true;
    }
    return false;
  }

  // A directory of git's objects that nobody has touched and that has no other in it.
  bool can_be_skipped(const Place& here, const SubdirectoryName& sub) const {
    if (here.part != GitPart::objects || !is_object_directory(sub.name)) return false;
    const auto seen = look_in(here.fd, sub.name);
    return seen && S_ISDIR(seen->st_mode) && seen->st_nlink == 2 && !is_touched(*seen);
  }

  void descend(const Place& here, const SubdirectoryName& sub) {
    if (stopped_ || can_be_skipped(here, sub)) return;
    const std::string path = joined(here.path, sub.name);
    const auto& hidden = limits_.hidden;
    if (std::find(hidden.begin(), hidden.end(), absolute(path)) != hidden.end()) return;
    if (here.depth >= limits_.depth) return gap("'" + path + "' is too deep");
    OwnedFd fd = open_child(here.fd, sub.name.c_str(), directory_flags);
    const int why = errno;
    if (!fd) {
      const auto seen = look_in(here.fd, sub.name);
      // Another mount is not in the command's view; what is gone is gone.
      if (why == EXDEV || !seen || !S_ISDIR(seen->st_mode)) return;
      if (!is_touched(*seen)) return;  // closed before the command came, and to it as well
      open_to_owner(here.fd, sub.name, seen->st_mode & 0777U);
      fd = open_child(here.fd, sub.name.c_str(), directory_flags);
      if (!fd) return gap("'" + path + "' could not be opened");
    }
    const bool is_way = !sub.trail.empty() || sub.part != GitPart::none;
    struct stat seen {};
    const bool way_is_new =
        is_way && (here.way_is_new || (::fstat(fd.get(), &seen) == 0 && is_new(seen, path)));
    look_in_directory({fd.get(), path, sub.trail, sub.part, way_is_new, here.depth + 1});
  }

  void judge(const Place& here, const MemberName& member, bool way_is_new) {
    const auto seen = look_in(here.fd, member.name);
    if (!seen) return;
    if (member.rule == MemberRule::git_config) look_at_places(here, member, *seen);
    if (is_out_of_reach(here, member, *seen)) return;
    if (S_ISLNK(seen->st_mode) && leads_elsewhere(joined(here.path, member.name)))
      return suspect(joined(here.path, member.name), std::string(member.reason));
    if (known_.is_unchanged(*seen) && !S_ISDIR(seen->st_mode)) return;
    switch (member.rule) {
      case MemberRule::always: return judge_always(here, member, *seen, way_is_new);
      case MemberRule::git_config: return judge_config(here, member, *seen, way_is_new);
      case MemberRule::git_hooks: return judge_hooks(here, member, *seen, way_is_new);
      case MemberRule::git_link: return judge_link(here, member, *seen);
    }
  }

  // It was a mount point all the time, so only the host can have changed it or put another in its place;
  // unless the file has a second name. Wherever the directory around it was moved, the mount went along.
  bool is_out_of_reach(const Place& here, const MemberName& member, const struct stat& seen) const {
    if (S_ISREG(seen.st_mode) && seen.st_nlink > 1) return false;
    const ProtectedFact* same = known_.find(seen);
    if (same != nullptr && same->kept) return true;
    if (!known_.is_kept(absolute(joined(here.path, member.name)))) return false;
    struct stat around {};
    const ProtectedFact* parent = ::fstat(here.fd, &around) == 0 ? known_.find(around) : nullptr;
    return here.path.empty() || (parent != nullptr && parent->file.path == absolute(here.path));
  }

  // The link is as it was, and what it leads to is the command's.
  bool leads_elsewhere(const std::string& path) const {
    const auto target = sys::hold(absolute(path));
    struct stat seen {};
    if (!target.ok() || !is_beneath(root_, target.value().path)) return false;
    if (::fstat(target.value().fd.get(), &seen) != 0) return true;
    const ProtectedFact* before = known_.find(seen);
    return (before == nullptr || !before->kept) && is_touched(seen);
  }

  std::string absolute(const std::string& path) const { return path.empty() ? root_ : root_ + "/" + path; }

  void judge_always(const Place& here, const MemberName& member, const struct stat& seen, bool way_is_new) {
    const std::string path = joined(here.path, member.name);
    const std::string reason(member.reason);
    if (!S_ISDIR(seen.st_mode)) {
      if (is_touched(seen) || way_is_new) suspect(path, reason);
      return;
    }
    // One that was renamed to this name holds files that are older than it.
    if (is_new(seen, path) || (way_is_new && !known_.is_at(seen, absolute(path))))
      return suspect(path, reason);
    const OwnedFd fd = open_child(here.fd, member.name.c_str(), directory_flags);
    if (!fd) return is_touched(seen) ? suspect(path, reason) : void();
    look_inside(fd.get(), path, reason, here.depth + 1);
  }

  // In a member that was there before: what is new in it, or was changed.
  void look_inside(int fd, const std::string& path, const std::string& reason, size_t depth) {
    if (!may_go_on()) return;
    if (depth >= limits_.depth) return gap("'" + path + "' is too deep");
    std::vector<std::string> directories;
    const bool read = for_each_name(fd, [&](const dirent& entry) {
      const auto seen = look_in(fd, entry.d_name);
      if (!seen) return true;
      if (S_ISDIR(seen->st_mode) && !is_new(*seen, joined(path, entry.d_name))) {
        directories.emplace_back(entry.d_name);
      } else if (is_touched(*seen) && !known_.is_unchanged(*seen)) {
        suspect(joined(path, entry.d_name), reason);
      }
      return count();
    });
    if (!read) gap("'" + path + "' could not be read");
    for (const auto& name : directories) {
      const OwnedFd below = open_child(fd, name.c_str(), directory_flags);
      const auto seen = look_in(fd, name);
      if (below) {
        look_inside(below.get(), joined(path, name), reason, depth + 1);
      } else if (seen && is_touched(*seen)) {
        suspect(joined(path, name), reason);  // closed, perhaps to hide what is in it
      }
    }
  }

  void judge_config(const Place& here, const MemberName& member, const struct stat& seen, bool way_is_new) {
    if (!is_touched(seen) && !way_is_new) return;
    const std::string path = joined(here.path, member.name);
    const OwnedFd fd = S_ISREG(seen.st_mode) ? open_child(here.fd, member.name.c_str(), O_RDONLY) : OwnedFd();
    const auto text = fd ? sys::read_all(fd.get(), max_git_config_bytes) : system_error("read " + path);
    if (!text.ok()) return suspect(path, std::string(member.reason));
    if (const auto danger = danger_in_git_config(text.value())) suspect(path, *danger);
  }

  // What a configuration that may well be as it was sends git to.
  void look_at_places(const Place& here, const MemberName& member, const struct stat& config) {
    if (!S_ISREG(config.st_mode)) return;
    const OwnedFd fd = open_child(here.fd, member.name.c_str(), O_RDONLY);
    const auto text = fd ? sys::read_all(fd.get(), max_git_config_bytes) : system_error("read it");
    if (!text.ok()) return;
    const std::string own = absolute(here.path);
    const std::string tree = here.part == GitPart::dot_git ? std::string(parent_of(own)) : own;
    for (const auto& place : executed_places(text.value())) {
      const std::string base = place.beside_config ? own : tree;
      look_at_place(place.path[0] == '/' ? place.path : base + "/" + place.path, here.depth);
    }
  }

  void look_at_place(const std::string& named, size_t depth) {
    const std::string reason = "the repository's configuration has git execute what is here";
    const auto held = sys::hold(named);
    struct stat seen {};
    if (!held.ok() || ::fstat(held.value().fd.get(), &seen) != 0) return;
    const std::string& path = held.value().path;
    if (path == root_ || !is_beneath(root_, path)) return;
    const std::string relative = path.substr(root_.size() + 1);
    if (!S_ISDIR(seen.st_mode)) {
      if (is_touched(seen) && !known_.is_unchanged(seen)) suspect(relative, reason);
      return;
    }
    const OwnedFd fd = open_child(held.value().fd.get(), ".", directory_flags);
    if (is_new(seen, relative) && !fd) return suspect(relative, reason);
    if (fd) look_inside(fd.get(), relative, reason, depth + 1);
  }

  void judge_hooks(const Place& here, const MemberName& member, const struct stat& seen, bool way_is_new) {
    const std::string path = joined(here.path, member.name);
    const std::string reason(member.reason);
    const bool all_new = way_is_new || is_new(seen, path);
    if (!S_ISDIR(seen.st_mode)) return is_touched(seen) || way_is_new ? suspect(path, reason) : void();
    const OwnedFd fd = open_child(here.fd, member.name.c_str(), directory_flags);
    if (!fd) return is_touched(seen) ? suspect(path, reason) : void();
    const bool read = for_each_name(fd.get(), [&](const dirent& entry) {
      const auto hook = look_in(fd.get(), entry.d_name);
      const bool sample = hook && S_ISREG(hook->st_mode) && is_sample_hook(entry.d_name);
      if (hook && !sample && !known_.is_unchanged(*hook) && (all_new || is_touched(*hook)))
        suspect(joined(path, entry.d_name), reason);
      return count();
    });
    if (!read) gap("'" + path + "' could not be read");
  }

  // "gitdir: PATH". Git takes config and hooks from there: in this tree they are looked at, elsewhere by
  // nobody.
  void judge_link(const Place& here, const MemberName& member, const struct stat& seen) {
    if (!is_touched(seen)) return;
    const std::string path = joined(here.path, member.name);
    const OwnedFd fd = S_ISREG(seen.st_mode) ? open_child(here.fd, member.name.c_str(), O_RDONLY) : OwnedFd();
    const auto text = fd ? sys::read_all(fd.get(), max_git_link_bytes) : system_error("read " + path);
    constexpr std::string_view key = "gitdir: ";
    if (!text.ok() || !text.value().starts_with(key)) return suspect(path, std::string(member.reason));
    std::string target = text.value().substr(key.size());
    while (!target.empty() && (target.back() == '\n' || target.back() == '\r')) target.pop_back();
    if (target.empty() || target[0] != '/') target.insert(0, absolute(here.path) + "/");
    const auto held = sys::hold(target);
    if (!held.ok() || !is_beneath(root_, held.value().path)) suspect(path, std::string(member.reason));
  }

  static constexpr size_t max_git_link_bytes = 8192;

  const std::string& root_;
  Known known_;
  ChangeTime since_;
  LookLimits limits_;
  uint64_t deadline_ms_;
  uint64_t names_ = 0;
  uint64_t directories_ = 0;
  bool stopped_ = false;
  LookAfter found_;
};

}  // namespace

ChangeTime change_time_now() {
  // The kernel stamps files with the time of its last tick, not with the exact one.
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return {now.tv_sec, now.tv_nsec};
}

LookAfter look_after(const HeldRoot& root, const std::vector<ProtectedFact>& known, const ChangeTime& since,
                     const LookLimits& limits) {
  const OwnedFd fd = open_child(root.fd.get(), ".", directory_flags);  // with a position of its own
  if (!fd) return {.gap = root.path + " could not be opened"};
  return WalkAfter(root.path, known, since, limits).take(fd.get());
}

}  // namespace cloche
