#include "store/commit/commit_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>

#include "base/sys/directory.hpp"
#include "base/sys/sys.hpp"

namespace cloche {
namespace {

constexpr uint64_t most_wait_ms = 10'000;
constexpr unsigned between_tries_us = 2'000;

Result<OwnedFd> lock_one(const std::string& path, uint64_t deadline_ms) {
  OwnedFd file = TRY(sys::open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return system_error("lock " + path);
    if (sys::monotonic_ms() >= deadline_ms)
      return refusal("other calls kept committing to the same directory", "try again");
    ::usleep(between_tries_us);
  }
  return file;
}

}  // namespace

Result<std::vector<OwnedFd>> lock_commits(const std::string& state, const std::vector<ChangedTree>& trees) {
  const std::string directory = state + "/commit-locks";
  if (!make_private_directories(directory)) return system_error("make " + directory);
  std::vector<std::string> names;
  for (const ChangedTree& tree : trees)
    names.push_back(std::to_string(tree.device) + "-" + std::to_string(tree.inode));
  std::sort(names.begin(), names.end());  // in one order, so that no two wait for each other
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::vector<OwnedFd> locks;
  const uint64_t deadline_ms = sys::monotonic_ms() + most_wait_ms;
  for (const auto& name : names) locks.push_back(TRY(lock_one(directory + "/" + name, deadline_ms)));
  return locks;
}

}  // namespace cloche
