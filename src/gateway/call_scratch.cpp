#include "gateway/call_scratch.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/directory.hpp"
#include "base/sys.hpp"
#include "confine/cgroup.hpp"

namespace cloche {
namespace {

std::vector<std::string> names_below(int directory) {
  return names_in("/proc/self/fd/" + std::to_string(directory));
}

// As it was made: one that had many names in it once stays large.
bool is_as_made(int directory) {
  constexpr off_t one_block = 4096;
  struct stat seen {};
  return ::fstat(directory, &seen) == 0 && seen.st_uid == ::geteuid() && (seen.st_mode & 07777) == 0700 &&
         seen.st_size <= one_block;
}

// Nothing but what every call begins with.
bool is_unused(int scratch) {
  if (!is_as_made(scratch)) return false;
  const auto names = names_below(scratch);
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    if (name != "home" && name != "tmp") return false;
    const auto place = sys::open_at(scratch, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    return place.ok() && is_as_made(place.value().get()) && names_below(place.value().get()).empty();
  });
}

// Until it is locked another call that looks for one takes it; then another one is made.
Result<CallScratch> make(const std::string& parent) {
  constexpr int most_tries = 100;
  for (int tries = 0; tries < most_tries; ++tries) {
    const std::string path = parent + "/" + fresh_cgroup_name();
    if (::mkdir(path.c_str(), 0700) != 0) {
      if (errno == EEXIST) continue;
      return system_error("make " + path);
    }
    auto made = sys::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!made.ok() && made.error().number == ENOENT) continue;
    OwnedFd lock = TRY(std::move(made));
    struct stat seen {};
    const bool ours = ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0 && ::fstat(lock.get(), &seen) == 0;
    if (ours && seen.st_nlink != 0) return CallScratch{path, std::move(lock)};
  }
  return system_error("make a directory of the call's own in " + parent, EAGAIN);
}

}  // namespace

Result<CallScratch> CallScratch::take(const std::string& parent) {
  CallScratch taken;
  for (const auto& name : names_in(parent)) {
    const std::string path = parent + "/" + name;
    auto held = sys::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!held.ok() || ::flock(held.value().get(), LOCK_EX | LOCK_NB) != 0) continue;
    if (!is_unused(held.value().get())) {
      remove_tree(path);
    } else if (!taken.lock) {
      taken = {path, std::move(held).value()};
    }
  }
  if (taken.lock) return taken;
  return make(parent);
}

void CallScratch::leave(Command command) {
  if (!lock) return;
  if (command == Command::free || !is_unused(lock.get())) remove_tree(path);
  lock = OwnedFd();
}

}  // namespace cloche
