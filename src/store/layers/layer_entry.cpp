#include "store/layers/layer_entry.hpp"

#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/text/visible_text.hpp"
#include "store/layers/overlay_attributes.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

FileKind kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR: return FileKind::directory;
    case S_IFLNK: return FileKind::link;
    case S_IFIFO: return FileKind::fifo;
    case S_IFSOCK: return FileKind::socket;
    case S_IFREG: return FileKind::file;
    default: return FileKind::device;
  }
}

std::string in_proc(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

// Since Linux 6.13, and the same on every architecture of ours.
#ifdef SYS_listxattrat
constexpr long list_attributes_call = SYS_listxattrat;
#else
constexpr long list_attributes_call = 465;
#endif

ssize_t list_names(const LayerEntry& entry, char* names, size_t size) {
  static const bool has_call = [] {
    char none = 0;
    return ::syscall(list_attributes_call, AT_FDCWD, "/", 0, &none, size_t{0}) >= 0;
  }();
  if (has_call)
    return ::syscall(list_attributes_call, entry.directory, entry.name, AT_SYMLINK_NOFOLLOW, names, size);
  return ::llistxattr(entry.address().c_str(), names, size);
}

// Most are short: a list or a value is read a second time only where it is long.
template <typename Read>
Result<std::string> read_attribute(const Read& read, const std::string& doing, const LayerEntry& entry) {
  char few[1024];
  ssize_t length = read(few, sizeof few);
  if (length >= 0) return std::string(few, static_cast<size_t>(length));
  std::string many;
  if (errno == ERANGE) {
    many.resize(size_t{64} << 10);  // the kernel has no longer ones
    length = read(many.data(), many.size());
  }
  if (length < 0) return system_error(doing + " '" + shown(entry.name) + "'");
  many.resize(static_cast<size_t>(length));
  return many;
}

Error attribute_error(const char* doing, const LayerEntry& entry) {
  return system_error(std::string(doing) + " '" + shown(entry.name) + "'");
}

bool is_copied(std::string_view name, OverlaysOwn overlays) {
  if (is_overlay_attribute(name)) return overlays == OverlaysOwn::copied;
  return name.starts_with("user.") || name.starts_with("system.posix_acl_");
}

std::vector<std::string> copied_names(std::string_view names, OverlaysOwn overlays) {
  std::vector<std::string> copied;
  for_each_attribute(names, [&](std::string_view name) {
    if (is_copied(name, overlays)) copied.emplace_back(name);
  });
  return copied;
}

}  // namespace

std::string LayerEntry::address() const {
  std::string address = in_proc(directory);
  address += '/';
  address += name;
  return address;
}

int64_t nanoseconds(const timespec& time) {
  constexpr int64_t in_a_second = 1'000'000'000;
  int64_t whole = 0;
  // A time that a call made up may be beyond what 64 bits hold.
  if (__builtin_mul_overflow(static_cast<int64_t>(time.tv_sec), in_a_second, &whole) ||
      __builtin_add_overflow(whole, static_cast<int64_t>(time.tv_nsec), &whole)) {
    return time.tv_sec < 0 ? INT64_MIN : INT64_MAX;
  }
  return whole;
}

FileState state_of(const struct stat& seen) {
  FileState state;
  state.kind = kind_of(seen.st_mode);
  state.mode = seen.st_mode & 07777U;
  state.uid = seen.st_uid;
  state.gid = seen.st_gid;
  state.modified_ns = nanoseconds(seen.st_mtim);
  if (state.kind == FileKind::file) state.size = static_cast<uint64_t>(seen.st_size);
  if (state.kind != FileKind::directory) state.names = static_cast<unsigned>(seen.st_nlink);
  return state;
}

FileState state_of(const LayerEntry& entry, const struct stat& seen) {
  FileState state = state_of(seen);
  if (state.kind == FileKind::link) state.link = link_text(entry.directory, entry.name);
  return state;
}

Result<std::string> attribute_names(const LayerEntry& entry) {
  const auto read = [&](char* names, size_t size) { return list_names(entry, names, size); };
  auto names = read_attribute(read, "list the extended attributes of", entry);
  if (!names.ok() && names.error().number == ENOTSUP) return std::string();
  return names;
}

Result<std::string> attribute_value(const LayerEntry& entry, const std::string& attribute) {
  const std::string address = entry.address();
  const auto read = [&](char* value, size_t size) {
    return ::lgetxattr(address.c_str(), attribute.c_str(), value, size);
  };
  return read_attribute(read, "read the extended attribute " + attribute + " of", entry);
}

Result<Attributes> attributes_of(const LayerEntry& entry, std::string_view names) {
  Attributes attributes;
  std::optional<Error> failed;
  for_each_attribute(names, [&](std::string_view name) {
    if (failed || is_overlay_attribute(name)) return;
    auto value = attribute_value(entry, std::string(name));
    if (value) {
      attributes.emplace(name, std::move(value).value());
    } else if (value.error().number != ENODATA) {  // ENODATA: removed since the list was made
      failed = std::move(value).take_error();
    }
  });
  if (failed) return std::move(*failed);
  return attributes;
}

Result<bool> has_overlay_attributes(const LayerEntry& entry) {
  bool has = false;
  const std::string names = TRY(attribute_names(entry));
  for_each_attribute(names, [&](std::string_view name) { has = has || is_overlay_attribute(name); });
  return has;
}

Result<void> strip_overlay_attributes(const LayerEntry& entry) {
  if (!TRY(has_overlay_attributes(entry))) return {};
  const std::string names = TRY(attribute_names(entry));
  const auto seen = look_in(entry.directory, entry.name);
  if (!seen) return attribute_error("look at", entry);
  const mode_t mode = seen->st_mode & 07777U;
  const bool is_closed = is_bound_by_modes() && (mode & S_IWUSR) == 0;
  if (is_closed) TRY(set_mode(entry, mode | S_IWUSR));
  bool is_stripped = true;
  for_each_attribute(names, [&](std::string_view name) {
    if (is_stripped && is_overlay_attribute(name))
      is_stripped = ::lremovexattr(entry.address().c_str(), std::string(name).c_str()) == 0;
  });
  if (!is_stripped) return attribute_error("remove overlay's attributes from", entry);
  if (is_closed) TRY(set_mode(entry, mode));
  return {};
}

Result<void> copy_attributes(const LayerEntry& from, const LayerEntry& to, OverlaysOwn overlays) {
  const auto wanted = copied_names(TRY(attribute_names(from)), overlays);
  const std::string target = to.address();
  for (const auto& name : copied_names(TRY(attribute_names(to)), overlays)) {
    const bool stays = std::find(wanted.begin(), wanted.end(), name) != wanted.end();
    if (!stays && ::lremovexattr(target.c_str(), name.c_str()) != 0)
      return attribute_error("remove an attribute of", to);
  }
  for (const auto& name : wanted) {
    const std::string value = TRY(attribute_value(from, name));
    if (::lsetxattr(target.c_str(), name.c_str(), value.data(), value.size(), 0) != 0)
      return attribute_error("set an attribute of", to);
  }
  return {};
}

Result<void> set_owner(const LayerEntry& entry, uid_t uid, gid_t gid) {
  const auto seen = look_in(entry.directory, entry.name);
  if (!seen) return attribute_error("look at", entry);
  const bool is_owners = seen->st_uid == uid && seen->st_gid == gid;
  if (!is_owners && ::fchownat(entry.directory, entry.name, uid, gid, AT_SYMLINK_NOFOLLOW) != 0)
    return attribute_error("set the owner of", entry);
  return {};
}

Result<void> set_times(const LayerEntry& entry, const struct stat& seen) {
  const timespec times[2] = {seen.st_atim, seen.st_mtim};
  if (::utimensat(entry.directory, entry.name, times, AT_SYMLINK_NOFOLLOW) == 0) return {};
  return attribute_error("set the times of", entry);
}

Result<void> set_modified(const LayerEntry& entry, int64_t ns) {
  constexpr int64_t second = 1'000'000'000;
  const int64_t rest = ((ns % second) + second) % second;
  const timespec times[2] = {{0, UTIME_OMIT}, {(ns - rest) / second, rest}};
  if (::utimensat(entry.directory, entry.name, times, AT_SYMLINK_NOFOLLOW) == 0) return {};
  return attribute_error("set the time of", entry);
}

// By its name only where it is held without being open.
bool set_mode(int held, unsigned mode) {
  if (::fchmod(held, mode) == 0) return true;
  return errno == EBADF && ::chmod(in_proc(held).c_str(), mode) == 0;
}

Result<void> set_mode(const LayerEntry& entry, unsigned mode) {
  const OwnedFd held = open_child(entry.directory, entry.name, O_PATH);
  struct stat seen {};
  if (!held || ::fstat(held.get(), &seen) != 0) return attribute_error("look at", entry);
  if (S_ISLNK(seen.st_mode) || (seen.st_mode & 07777U) == mode || set_mode(held.get(), mode)) return {};
  return attribute_error("set the mode of", entry);
}

bool is_bound_by_modes() {
  static const bool bound = ::geteuid() != 0;
  return bound;
}

ReadableForNow::ReadableForNow(const LayerEntry& entry, const struct stat& seen)
    : mode_(seen.st_mode & 07777U) {
  const bool is_closed = (S_ISREG(seen.st_mode) || S_ISDIR(seen.st_mode)) && (seen.st_mode & S_IRUSR) == 0;
  if (!is_closed) return;
  held_ = open_child(entry.directory, entry.name, O_PATH);
  if (held_) set_mode(held_.get(), mode_ | S_IRUSR);
}

ReadableForNow::~ReadableForNow() {
  if (held_) set_mode(held_.get(), mode_);
}

}  // namespace cloche
