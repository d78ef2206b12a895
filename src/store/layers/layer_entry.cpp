#include "store/layers/layer_entry.hpp"

#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

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

// The first byte at or after `from` that is no hole. Where the file system does not say, there are no holes.
uint64_t next_data(int fd, uint64_t from, uint64_t size) {
  const off_t at = ::lseek(fd, static_cast<off_t>(from), SEEK_DATA);
  if (at >= 0) return static_cast<uint64_t>(at);
  return errno == ENXIO ? size : from;
}

// As much as there is, up to `most`.
Result<size_t> read_at(int fd, char* into, size_t most, uint64_t from) {
  size_t filled = 0;
  while (filled < most) {
    const ssize_t more = ::pread(fd, into + filled, most - filled, static_cast<off_t>(from + filled));
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return system_error("read a file of a layer");
    if (more == 0) break;
    filled += static_cast<size_t>(more);
  }
  return filled;
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

FileState state_of(const LayerEntry& entry, const struct stat& seen) {
  FileState state;
  state.kind = kind_of(seen.st_mode);
  state.mode = seen.st_mode & 07777U;
  state.uid = seen.st_uid;
  state.gid = seen.st_gid;
  state.modified_ns = nanoseconds(seen.st_mtim);
  if (state.kind == FileKind::file) state.size = static_cast<uint64_t>(seen.st_size);
  if (state.kind != FileKind::directory) state.names = static_cast<unsigned>(seen.st_nlink);
  if (state.kind == FileKind::link) state.link = link_text(entry.directory, entry.name);
  return state;
}

Result<std::string> attribute_names(const LayerEntry& entry) {
  const std::string address = entry.address();
  char few[1024];
  ssize_t length = ::llistxattr(address.c_str(), few, sizeof few);
  if (length >= 0) return std::string(few, static_cast<size_t>(length));
  if (errno == ENOTSUP) return std::string();
  if (errno != ERANGE) return system_error("list the extended attributes of a file");
  std::string names(65536, '\0');  // the kernel has no longer list
  length = ::llistxattr(address.c_str(), names.data(), names.size());
  if (length < 0) return system_error("list the extended attributes of a file");
  names.resize(static_cast<size_t>(length));
  return names;
}

Result<std::string> attribute_value(const LayerEntry& entry, const std::string& attribute) {
  const std::string address = entry.address();
  char few[1024];
  ssize_t length = ::lgetxattr(address.c_str(), attribute.c_str(), few, sizeof few);
  if (length >= 0) return std::string(few, static_cast<size_t>(length));
  if (errno != ERANGE) return system_error("read the extended attribute " + attribute);
  std::string value(65536, '\0');  // the kernel has no longer value
  length = ::lgetxattr(address.c_str(), attribute.c_str(), value.data(), value.size());
  if (length < 0) return system_error("read the extended attribute " + attribute);
  value.resize(static_cast<size_t>(length));
  return value;
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

bool set_mode(int held, unsigned mode) { return ::chmod(in_proc(held).c_str(), mode) == 0; }

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

Result<Comparison> compare_bytes(int one, int other, uint64_t size, uint64_t& budget) {
  constexpr size_t piece = 65536;
  constexpr uint64_t worth_a_look_for_holes = 1 << 20;
  char left[piece];
  char right[piece];
  for (uint64_t at = 0; at < size;) {
    if (size >= worth_a_look_for_holes) {
      at = std::min(next_data(one, at, size), next_data(other, at, size));
      if (at >= size) break;
    }
    const auto wanted = static_cast<size_t>(std::min<uint64_t>(piece, size - at));
    if (budget < wanted) return Comparison::over_budget;
    budget -= wanted;
    const size_t read_left = TRY(read_at(one, left, wanted, at));
    const size_t read_right = TRY(read_at(other, right, wanted, at));
    // Shorter than its size: the host cut it off just now.
    if (read_left != wanted || read_right != wanted) return Comparison::different;
    if (std::memcmp(left, right, wanted) != 0) return Comparison::different;
    at += wanted;
  }
  return Comparison::equal;
}

}  // namespace cloche
