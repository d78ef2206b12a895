#include "store/open_call.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/directory.hpp"
#include "base/sys.hpp"

namespace cloche {
namespace {

// DEVICE-INODE-SECONDS-NANOSECONDS-SALT
std::string name_of_root(const struct stat& root) {
  return std::to_string(root.st_dev) + "-" + std::to_string(root.st_ino) + "-";
}

std::optional<ChangeTime> time_in(const std::string& name, const std::string& of_root) {
  ChangeTime time;
  const char* at = name.data() + of_root.size();
  const char* end = name.data() + name.size();
  const auto seconds = std::from_chars(at, end, time.seconds);
  if (seconds.ec != std::errc{} || seconds.ptr == end || *seconds.ptr != '-') return std::nullopt;
  const auto rest = std::from_chars(seconds.ptr + 1, end, time.nanoseconds);
  if (rest.ec != std::errc{} || rest.ptr == end || *rest.ptr != '-') return std::nullopt;
  return time;
}

bool is_held(int directory, const std::string& name) {
  const auto fd = sys::open_at(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  return fd.ok() && ::flock(fd.value().get(), LOCK_EX | LOCK_NB) != 0;
}

Result<OwnedFd> open_marks(const std::string& directory) {
  auto opened = sys::open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (opened.ok() || !make_private_directories(directory)) return opened;
  return sys::open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

}  // namespace

OpenCall OpenCall::begin(const std::string& state, int root, const ChangeTime& now) {
  OpenCall call;
  call.began_ = call.since_ = now;
  struct stat seen {};
  if (state.empty() || ::fstat(root, &seen) != 0) return call;
  call.directory_ = state + "/open";
  const auto marks = open_marks(call.directory_);
  if (!marks.ok()) return call;
  const int directory = marks.value().get();
  ::flock(directory, LOCK_EX);  // or somebody could take a mark for abandoned that is not locked yet
  const std::string of_root = name_of_root(seen);
  for (const auto& name : names_in(call.directory_)) {
    if (!name.starts_with(of_root)) continue;
    const auto time = time_in(name, of_root);
    if (!time) continue;
    if (is_held(directory, name)) {
      call.since_ = std::min(call.since_, *time);
    } else {
      call.dead_.push_back(name);
      call.abandoned_ = std::min(call.abandoned_.value_or(*time), *time);
    }
  }
  uint64_t salt = 0;
  (void)::getrandom(&salt, sizeof salt, 0);
  call.name_ = of_root + std::to_string(call.since_.seconds) + "-" + std::to_string(call.since_.nanoseconds) +
               "-" + std::to_string(salt);
  auto mark = sys::open_at(directory, call.name_, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (mark.ok()) {
    ::flock(mark.value().get(), LOCK_EX);
    call.lock_ = std::move(mark).value();
  }
  return call;
}

void OpenCall::forget_abandoned() {
  for (const auto& name : dead_) ::unlink((directory_ + "/" + name).c_str());
  dead_.clear();
}

void OpenCall::close() {
  if (lock_) ::unlink((directory_ + "/" + name_).c_str());
  lock_ = OwnedFd();
}

}  // namespace cloche
