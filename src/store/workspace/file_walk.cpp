#include "store/workspace/file_walk.hpp"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <memory>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "policy/protected/protected.hpp"
#include "store/workspace/open_beneath.hpp"

namespace cloche {
namespace {

// Most file systems say it in the directory itself, and then nothing else has to be read.
FileEntry::Kind kind_in(int directory, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return kind_of(DTTOIF(entry.d_type));
  struct stat seen {};
  const bool there = ::fstatat(directory, entry.d_name, &seen, AT_SYMLINK_NOFOLLOW) == 0;
  return there ? kind_of(seen.st_mode) : FileEntry::Kind::other;
}

uint64_t regular_size(const struct stat& seen) {
  return S_ISREG(seen.st_mode) ? static_cast<uint64_t>(seen.st_size) : 0;
}

}  // namespace

FileEntry::Kind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return FileEntry::Kind::file;
  if (S_ISDIR(mode)) return FileEntry::Kind::directory;
  return S_ISLNK(mode) ? FileEntry::Kind::link : FileEntry::Kind::other;
}

FileWalk::FileWalk(int start, const std::string& shown, const std::string& place, const IsHidden& is_hidden,
                   const WalkLimits& limits, const Visit& visit)
    : start_(start),
      shown_(shown),
      place_(place),
      is_hidden_(is_hidden),
      visit_(visit),
      deadline_ms_(sys::monotonic_ms() + limits.milliseconds),
      entries_left_(limits.entries) {}

bool FileWalk::out_of_time() const { return sys::monotonic_ms() >= deadline_ms_; }

bool FileWalk::end(WalkEnd how) {
  walked_.end = how;
  return false;
}

Walked FileWalk::directory() {
  descend("");
  return walked_;
}

Walked FileWalk::single(FileEntry::Kind kind) {
  visit_({shown_, kind}, *this);
  if (out_of_time()) end(WalkEnd::out_of_time);
  return walked_;
}

uint64_t FileWalk::size_of(const FileEntry& entry) const {
  struct stat seen {};
  const std::string below =
      entry.path.substr(std::min(entry.path.size(), shown_.empty() ? 0 : shown_.size() + 1));
  // Of a single file the start is the file itself, and there is nothing below it.
  if (below.empty()) return ::fstat(start_, &seen) == 0 ? regular_size(seen) : 0;
  const auto fd = open_beneath(start_, below, O_PATH, Links::refused, entry.path);
  return fd.ok() && ::fstat(fd.value().get(), &seen) == 0 ? regular_size(seen) : 0;
}

// Recursion is as deep as a path has components, and a path is at most 4095 bytes long: the kernel opens no
// longer one.
bool FileWalk::descend(const std::string& below) {
  const auto children = children_of(below);
  if (walked_.end != WalkEnd::complete) return false;
  for (const auto& child : children) {
    if (out_of_time()) return end(WalkEnd::out_of_time);
    if (entries_left_ == 0) return end(WalkEnd::out_of_entries);
    --entries_left_;
    if (!visit_child(below, child)) return false;
  }
  return true;
}

bool FileWalk::visit_child(const std::string& below, const Child& child) {
  const std::string path = joined(below, child.name);
  if (is_cloches_own(joined(place_, path))) return true;
  const auto kind = is_hidden_(joined(place_, path)) ? FileEntry::Kind::hidden : child.kind;
  const WalkStep next = visit_({joined(shown_, path), kind}, *this);
  if (next == WalkStep::stop) return end(out_of_time() ? WalkEnd::out_of_time : WalkEnd::stopped_by_visitor);
  return next == WalkStep::over || kind != FileEntry::Kind::directory || descend(path);
}

// Sorted. Of a directory with more than may be visited the rest is not even read.
std::vector<FileWalk::Child> FileWalk::children_of(const std::string& below) {
  std::vector<Child> children;
  auto fd = open_beneath(start_, below, O_RDONLY | O_DIRECTORY, Links::refused, below);
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(fd.ok() ? ::fdopendir(fd.value().get()) : nullptr,
                                                ::closedir);
  if (dir == nullptr) {
    ++walked_.unreadable;
    return children;
  }
  const int directory = fd.value().release();  // closedir closes it
  while (children.size() <= entries_left_) {
    if (out_of_time()) {
      end(WalkEnd::out_of_time);
      break;
    }
    const dirent* entry = ::readdir(dir.get());
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (name != "." && name != "..") children.push_back({name, kind_in(directory, *entry)});
  }
  std::sort(children.begin(), children.end(), [](const Child& a, const Child& b) { return a.name < b.name; });
  return children;
}

}  // namespace cloche
