#include "store/protected_walk.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/sys.hpp"
#include "policy/git_config.hpp"
#include "policy/protected_directory.hpp"
#include "store/system_facts.hpp"

namespace cloche {
namespace {

// One name, so there is nothing on the way; no link, no other mount, no device that would act on being
// opened.
OwnedFd open_child(int directory, const char* name, int flags) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags) | O_CLOEXEC | O_NOFOLLOW;
  if ((flags & O_PATH) == 0) how.flags |= O_NONBLOCK | O_NOCTTY;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV;
  constexpr int tries = 16;  // EAGAIN: something was renamed meanwhile, by another call
  for (int i = 0; i < tries; ++i) {
    OwnedFd fd(static_cast<int>(::syscall(SYS_openat2, directory, name, &how, sizeof how)));
    if (fd || (errno != EAGAIN && errno != EINTR)) return fd;
  }
  return OwnedFd();
}

constexpr int directory_flags = O_RDONLY | O_DIRECTORY;

NameKind kind_in(int directory, const dirent& entry) {
  unsigned char type = entry.d_type;
  if (type == DT_UNKNOWN) {
    struct stat seen {};
    if (::fstatat(directory, entry.d_name, &seen, AT_SYMLINK_NOFOLLOW) == 0) type = IFTODT(seen.st_mode);
  }
  if (type == DT_DIR) return NameKind::directory;
  return type == DT_LNK ? NameKind::link : NameKind::other;
}

bool is_dots(const char* name) {
  return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

std::string joined(const std::string& directory, const std::string& name) {
  return directory.empty() ? name : directory + "/" + name;
}

ChangeTime change_of(const struct stat& seen) { return {seen.st_ctim.tv_sec, seen.st_ctim.tv_nsec}; }

std::optional<struct stat> look_in(int directory, const std::string& name) {
  struct stat seen {};
  if (::fstatat(directory, name.c_str(), &seen, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return seen;
}

// Every name of a directory that was opened just now; false: it could not be read to its end. Straight from
// the kernel, because the descriptor stays the caller's. Never inlined: walks are recursive, and the buffer
// need not be.
template <typename Visit>
[[gnu::noinline]] bool for_each_name(int directory, const Visit& visit) {
  alignas(dirent) char buffer[32768];
  for (;;) {
    const long filled = ::syscall(SYS_getdents64, directory, buffer, sizeof buffer);
    if (filled <= 0) return filled == 0;
    for (long at = 0; at < filled;) {
      const auto* entry = reinterpret_cast<const dirent*>(buffer + at);
      at += entry->d_reclen;
      if (!is_dots(entry->d_name) && !visit(*entry)) return true;
    }
  }
}

// Before.

constexpr size_t most_directories_before = 96;
constexpr size_t most_kept = 64;  // mounts; what is beyond is found afterwards

class LookBefore {
 public:
  LookBefore(const std::string& root, std::vector<ProtectedFact>& found, std::vector<OwnedFd>& held)
      : root_(root), found_(found), held_(held) {}

  Result<void> look(OwnedFd root) {
    waiting_.push_back({std::move(root), "", {}, GitPart::none, true});
    for (size_t count = 0; !waiting_.empty() && count < most_directories_before; ++count) {
      const Waiting next = std::move(waiting_.front());
      waiting_.pop_front();
      if (!look_in_directory(next) && next.path.empty()) return system_error("read " + root_);
    }
    return {};
  }

 private:
  struct Waiting {
    OwnedFd fd;
    std::string path;
    Trail trail;
    GitPart part;
    bool top;  // what is in it is shown read-only
  };

  bool look_in_directory(const Waiting& here) {
    DirectoryNames names(here.trail, here.part);
    const bool read = for_each_name(here.fd.get(), [&](const dirent& entry) {
      names.add(entry.d_name, kind_in(here.fd.get(), entry));
      return true;
    });
    names.settle();
    if (names.is_git_directory()) add_identity(here.fd.get(), here.path);
    for (const auto& member : names.members()) add_member(here, member);
    for (const auto& sub : names.subdirectories()) wait_for(here, sub, names.is_git_directory());
    return read;
  }

  // Of a repository only where other git directories are; of packages nothing.
  void wait_for(const Waiting& here, const SubdirectoryName& sub, bool in_git) {
    const bool leads_to_members = sub.part == GitPart::info || sub.part == GitPart::worktrees ||
                                  sub.name == "modules" || here.part == GitPart::worktrees;
    if ((in_git && !leads_to_members) || sub.part == GitPart::objects || sub.name == "node_modules") return;
    if (waiting_.size() >= most_directories_before) return;
    OwnedFd fd = open_child(here.fd.get(), sub.name.c_str(), directory_flags);
    if (!fd) return;  // not ours to read, or another mount: then the command does not see it either
    // Of the top: its repository with what is in it, and directories like .config.
    const bool within = !here.path.empty() && here.trail.empty();
    const bool top = here.top && (within || in_git || sub.part != GitPart::none || !sub.trail.empty());
    if (top) add_identity(fd.get(), joined(here.path, sub.name));
    waiting_.push_back({std::move(fd), joined(here.path, sub.name), sub.trail, sub.part, top});
  }

  void add_identity(int fd, const std::string& path) {
    struct stat seen {};
    if (::fstat(fd, &seen) != 0) return;
    found_.push_back({fact_from(seen, absolute(path)), change_of(seen), false});
  }

  void add_member(const Waiting& here, const MemberName& member) {
    OwnedFd fd = open_child(here.fd.get(), member.name.c_str(), O_PATH);
    struct stat seen {};
    if (!fd || ::fstat(fd.get(), &seen) != 0) return;
    ProtectedFact fact{fact_from(seen, absolute(joined(here.path, member.name))), change_of(seen), false};
    // Nothing can be mounted on a link.
    const bool mountable = S_ISREG(seen.st_mode) || S_ISDIR(seen.st_mode);
    fact.kept = here.top && mountable && kept_ < most_kept;
    if (fact.kept) {
      ++kept_;
      held_.push_back(std::move(fd));
    }
    const bool inside = S_ISDIR(seen.st_mode) && !fact.kept;
    found_.push_back(std::move(fact));
    if (inside) add_inside(here, member.name);
  }

  // So that what was made just before the command is not taken for the command's.
  void add_inside(const Waiting& here, const std::string& name) {
    constexpr int most_inside = 64;
    const OwnedFd directory = open_child(here.fd.get(), name.c_str(), directory_flags);
    if (!directory) return;
    int count = 0;
    for_each_name(directory.get(), [&](const dirent& entry) {
      const auto seen = look_in(directory.get(), entry.d_name);
      if (seen) found_.push_back({fact_from(*seen, ""), change_of(*seen), false});
      return ++count < most_inside;
    });
  }

  std::string absolute(const std::string& path) const { return path.empty() ? root_ : root_ + "/" + path; }

  const std::string& root_;
  std::vector<ProtectedFact>& found_;
  std::vector<OwnedFd>& held_;
  std::deque<Waiting> waiting_;
  size_t kept_ = 0;
};

// After.

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
    look_in_directory({root, "", {}, GitPart::none, false, 0});
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
  bool is_new(const struct stat& seen) const { return is_touched(seen) && known_.find(seen) == nullptr; }

  void gap(const std::string& what) {
    if (found_.gap.empty()) found_.gap = what;
  }

  void suspect(const std::string& path, std::string reason) {
    constexpr size_t most_suspects = 10'000;
    if (found_.suspects.size() >= most_suspects) return gap("more than 10000 protected files were made");
    found_.suspects.push_back({path, std::move(reason)});
  }

  bool may_go_on() {
    if (names_ > limits_.names) gap("it holds more than " + std::to_string(limits_.names) + " names");
    if (sys::monotonic_ms() >= deadline_ms_) gap("it took too long");
    stopped_ = stopped_ || names_ > limits_.names || sys::monotonic_ms() >= deadline_ms_;
    return !stopped_;
  }

  void look_in_directory(const Place& here) {
    if (!may_go_on()) return;
    DirectoryNames names(here.trail, here.part);
    const bool read = for_each_name(here.fd, [&](const dirent& entry) {
      names.add(entry.d_name, kind_in(here.fd, entry));
      return ++names_ <= limits_.names;
    });
    if (!read) gap("'" + here.path + "' could not be read");
    names.settle();
    struct stat seen {};
    const bool is_new_git = names.is_git_directory() && ::fstat(here.fd, &seen) == 0 && is_new(seen);
    for (const auto& member : names.members()) judge(here, member, here.way_is_new || is_new_git);
    for (const auto& sub : names.subdirectories()) descend(here, sub);
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
    bool way_is_new = !sub.trail.empty() && here.way_is_new;
    if (!sub.trail.empty() && !way_is_new) {
      struct stat seen {};
      way_is_new = ::fstat(fd.get(), &seen) == 0 && is_new(seen);
    }
    look_in_directory({fd.get(), path, sub.trail, sub.part, way_is_new, here.depth + 1});
  }

  void judge(const Place& here, const MemberName& member, bool way_is_new) {
    const auto seen = look_in(here.fd, member.name);
    if (!seen) return;
    if (is_out_of_reach(here, member, *seen)) return;
    if (known_.is_unchanged(*seen) && !S_ISDIR(seen->st_mode)) return;
    switch (member.rule) {
      case MemberRule::always: return judge_always(here, member, *seen, way_is_new);
      case MemberRule::git_config: return judge_config(here, member, *seen, way_is_new);
      case MemberRule::git_hooks: return judge_hooks(here, member, *seen, way_is_new);
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

  std::string absolute(const std::string& path) const { return path.empty() ? root_ : root_ + "/" + path; }

  void judge_always(const Place& here, const MemberName& member, const struct stat& seen, bool way_is_new) {
    const std::string path = joined(here.path, member.name);
    const std::string reason(member.reason);
    if (!S_ISDIR(seen.st_mode)) {
      if (is_touched(seen) || way_is_new) suspect(path, reason);
      return;
    }
    // One that was renamed to this name holds files that are older than it.
    if (is_new(seen) || (way_is_new && known_.find(seen) == nullptr)) return suspect(path, reason);
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
      if (S_ISDIR(seen->st_mode) && !is_new(*seen)) {
        directories.emplace_back(entry.d_name);
      } else if (is_touched(*seen) && !known_.is_unchanged(*seen)) {
        suspect(joined(path, entry.d_name), reason);
      }
      return ++names_ <= limits_.names;
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

  void judge_hooks(const Place& here, const MemberName& member, const struct stat& seen, bool way_is_new) {
    const std::string path = joined(here.path, member.name);
    const std::string reason(member.reason);
    const bool all_new = way_is_new || is_new(seen);
    if (!S_ISDIR(seen.st_mode)) return is_touched(seen) || way_is_new ? suspect(path, reason) : void();
    const OwnedFd fd = open_child(here.fd, member.name.c_str(), directory_flags);
    if (!fd) return is_touched(seen) ? suspect(path, reason) : void();
    const bool read = for_each_name(fd.get(), [&](const dirent& entry) {
      const auto hook = look_in(fd.get(), entry.d_name);
      const bool sample = hook && S_ISREG(hook->st_mode) && is_sample_hook(entry.d_name);
      if (hook && !sample && !known_.is_unchanged(*hook) && (all_new || is_touched(*hook)))
        suspect(joined(path, entry.d_name), reason);
      return ++names_ <= limits_.names;
    });
    if (!read) gap("'" + path + "' could not be read");
  }

  const std::string& root_;
  Known known_;
  ChangeTime since_;
  LookLimits limits_;
  uint64_t deadline_ms_;
  uint64_t names_ = 0;
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

Result<void> look_before(const std::string& root, std::vector<ProtectedFact>& found,
                         std::vector<OwnedFd>& held) {
  OwnedFd fd = TRY(sys::open(root, directory_flags | O_NOFOLLOW));
  return LookBefore(root, found, held).look(std::move(fd));
}

LookAfter look_after(const HeldRoot& root, const std::vector<ProtectedFact>& known, const ChangeTime& since,
                     const LookLimits& limits) {
  const OwnedFd fd = open_child(root.fd.get(), ".", directory_flags);  // with a position of its own
  if (!fd) return {.gap = root.path + " could not be opened"};
  return WalkAfter(root.path, known, since, limits).take(fd.get());
}

}  // namespace cloche
