#include "store/commit/commit_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>

#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

constexpr uint64_t most_wait_ms = 10'000;
constexpr unsigned between_tries_us = 2'000;

Result<OwnedFd> lock_one(const std::string& path, int kind, uint64_t deadline_ms) {
  OwnedFd file = TRY(sys::open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
  while (::flock(file.get(), kind | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return system_error("lock " + path);
    if (sys::monotonic_ms() >= deadline_ms)
      return refusal("other calls kept committing to the same directory", "try again");
    ::usleep(between_tries_us);
  }
  return file;
}

std::string name_of_lock(uint64_t device, uint64_t inode) {
  return std::to_string(device) + "-" + std::to_string(inode);
}

}  // namespace

std::string commit_locks_of(const std::string& state) { return state + "/commit-locks"; }

Result<std::vector<OwnedFd>> lock_commits(const std::string& state, const std::vector<ChangedTree>& trees) {
  const std::string directory = commit_locks_of(state);
  if (!make_private_directories(directory)) return system_error("make " + directory);
  std::map<std::string, int> kinds;  // in one order, so that no two wait for each other
  for (const ChangedTree& tree : trees) {
    for (std::string around = tree.path; around != "/" && !around.empty();) {
      around = std::string(parent_of(around));
      struct stat seen {};
      if (::stat(around.c_str(), &seen) != 0) return system_error("look at " + shown(around));
      kinds.emplace(name_of_lock(seen.st_dev, seen.st_ino), LOCK_SH);
    }
  }
  for (const ChangedTree& tree : trees) kinds[name_of_lock(tree.device, tree.inode)] = LOCK_EX;
  std::vector<OwnedFd> locks;
  const uint64_t deadline_ms = sys::monotonic_ms() + most_wait_ms;
  for (const auto& [name, kind] : kinds)
    locks.push_back(TRY(lock_one(directory + "/" + name, kind, deadline_ms)));
  return locks;
}

}  // namespace cloche
