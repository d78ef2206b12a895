#include "store/saved_members.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/path.hpp"
#include "base/sys.hpp"
#include "policy/protected_directory.hpp"
#include "store/tree_steps.hpp"

namespace cloche {
namespace {

constexpr size_t most_file_bytes = size_t{1} << 20;
constexpr size_t most_bytes = size_t{8} << 20;
constexpr size_t most_names = 512;
constexpr size_t most_depth = 16;

// The kernel's time of change cannot be set back: then nothing was done to it.
bool is_untouched(const struct stat& before, const struct stat& now) {
  return before.st_dev == now.st_dev && before.st_ino == now.st_ino && change_of(before) == change_of(now);
}

constexpr mode_t mode_bits = 07777;

void set_mode(int parent, const std::string& name, mode_t mode) {
  const OwnedFd fd = open_child(parent, name.c_str(), O_PATH | O_DIRECTORY);
  if (fd) ::chmod(("/proc/self/fd/" + std::to_string(fd.get())).c_str(), mode & mode_bits);
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

// What is to be put back, complete and beside its place, before anything there is touched: where there is no
// room for it, none of it is left.
class Beside {
 public:
  Beside(int parent, const struct stat& like, const std::string& content)
      : parent_(parent), name_(".cloche-put-back-" + std::to_string(::getpid())) {
    if (S_ISREG(like.st_mode)) {
      made_ = write_file(parent, name_, like, content);
    } else if (S_ISDIR(like.st_mode)) {
      if (::mkdirat(parent, name_.c_str(), 0700) != 0) made_ = system_error("make it");
      if (made_.ok()) set_mode(parent, name_, like.st_mode);
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
    if (!look_in(at.get(), name) && ::mkdirat(at.get(), name.c_str(), 0755) != 0)
      return system_error("make " + name);
    at = TRY(sys::open_at(at.get(), name, O_PATH | O_DIRECTORY | O_NOFOLLOW));
  }
  return at;
}

}  // namespace

std::optional<std::string> content_of_member(int parent, const std::string& name, const struct stat& seen) {
  if (S_ISLNK(seen.st_mode)) {
    char says[4096];
    const ssize_t length = ::readlinkat(parent, name.c_str(), says, sizeof says);
    if (length <= 0 || static_cast<size_t>(length) == sizeof says) return std::nullopt;
    return std::string(says, static_cast<size_t>(length));
  }
  if (!S_ISREG(seen.st_mode) || static_cast<size_t>(seen.st_size) > most_file_bytes) return std::nullopt;
  const OwnedFd fd = open_child(parent, name.c_str(), O_RDONLY);
  auto text = fd ? sys::read_all(fd.get(), most_file_bytes) : system_error("read it");
  return text.ok() ? std::optional(std::move(text).value()) : std::nullopt;
}

void SavedMembers::save(const HeldRoot& root, const std::string& path) {
  const auto parent = open_parent(root.fd.get(), path);
  if (parent.ok()) save_in(parent.value().get(), last_of(path), path, 0);
}

void SavedMembers::save_in(int parent, const std::string& name, const std::string& path, size_t depth) {
  const auto seen = look_in(parent, name);
  if (!seen || saved_.size() >= most_names || depth > most_depth) return;
  if (S_ISDIR(seen->st_mode)) {
    saved_.push_back({path, *seen, ""});
    return save_directory(parent, name, path, depth);
  }
  auto content = content_of_member(parent, name, *seen);
  if (!content || bytes_ + content->size() > most_bytes) return;
  bytes_ += content->size();
  saved_.push_back({path, *seen, std::move(*content)});
}

void SavedMembers::save_directory(int parent, const std::string& name, const std::string& path,
                                  size_t depth) {
  const OwnedFd fd = open_child(parent, name.c_str(), directory_flags);
  if (!fd) return;
  std::vector<std::string> names;
  for_each_name(fd.get(), [&](const dirent& entry) {
    if (!is_sample_hook(entry.d_name)) names.emplace_back(entry.d_name);
    return names.size() < most_names;
  });
  std::sort(names.begin(), names.end());
  for (const auto& child : names) save_in(fd.get(), child, joined(path, child), depth + 1);
}

bool SavedMembers::is_as_it_was(const Saved& saved, int parent, const std::string& name,
                                const struct stat& now) {
  if (is_untouched(saved.seen, now)) return true;
  if (now.st_mode != saved.seen.st_mode) return false;
  if (S_ISDIR(now.st_mode)) return true;  // what is in it comes by itself
  return now.st_nlink == 1 && content_of_member(parent, name, now) == saved.content;
}

Result<void> SavedMembers::put_back_one(const Saved& saved, const HeldRoot& root, Quarantine& quarantine,
                                        const Vouchers& vouchers, PutBack& done) {
  const OwnedFd parent = TRY(open_or_make_parent(root.fd.get(), saved.path));
  const std::string name = last_of(saved.path);
  const auto now = look_in(parent.get(), name);
  if (now && is_as_it_was(saved, parent.get(), name, *now)) return {};
  if (now && S_ISDIR(now->st_mode) && S_ISDIR(saved.seen.st_mode)) {
    set_mode(parent.get(), name, saved.seen.st_mode);
    return {};
  }
  Beside beside(parent.get(), saved.seen, saved.content);
  // In any case: what stands there is not what the host is to execute.
  if (now) done.quarantined.push_back(TRY(quarantine.take(root, {saved.path, "it was changed"})));
  vouchers.vouch_for(saved.path, saved.seen.st_mode, saved.content);
  TRY(beside.move_to(name));
  done.restored.push_back(saved.path);
  return {};
}

std::string SavedMembers::describe_loss(const Saved& saved, const Error& error, Quarantine& quarantine) {
  std::string text = "'" + saved.path + "' could not be put back: " + describe(error);
  if (!S_ISREG(saved.seen.st_mode)) return text;
  const auto kept = quarantine.keep(last_of(saved.path), saved.content);
  return text + (kept.ok() ? "; as it was it is kept at " + kept.value()
                           : "; there is no room for a copy of it either: " + describe(kept.error()));
}

SavedMembers::PutBack SavedMembers::put_back(const HeldRoot& root, Quarantine& quarantine,
                                             const Vouchers& vouchers) const {
  PutBack done;
  for (const auto& saved : saved_) {
    const auto put = put_back_one(saved, root, quarantine, vouchers, done);
    if (put.ok()) continue;
    if (!done.gap.empty()) done.gap += "; ";
    done.gap += describe_loss(saved, put.error(), quarantine);
  }
  return done;
}

}  // namespace cloche
