#include "gateway/launch/pool_counts.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>

#include "base/sys/directory.hpp"
#include "base/sys/sys.hpp"

namespace cloche {
namespace {

std::string folder_in(const std::string& state) { return state + "/pools"; }

}  // namespace

std::string describe(const PoolCounts& counts) {
  constexpr uint64_t kib = 1024;
  return std::to_string(counts.waiting) + " of " + std::to_string(counts.bound) + " sandboxes wait, with " +
         std::to_string(counts.memory_bytes / kib) + " KiB of memory; " + std::to_string(counts.hits) +
         (counts.hits == 1 ? " call began in one, " : " calls began in one, ") +
         std::to_string(counts.misses) + " found none";
}

PoolNotice::PoolNotice(const std::string& state) {
  if (state.empty() || !make_private_directories(folder_in(state))) return;
  static std::atomic<unsigned> counter{0};
  path_ = folder_in(state) + "/" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
  auto file = sys::open(path_, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  if (file.ok() && ::flock(file.value().get(), LOCK_EX | LOCK_NB) == 0) file_ = std::move(file).value();
}

PoolNotice::~PoolNotice() {
  if (file_) ::unlink(path_.c_str());
}

// Of always more bytes than the last one, or with blanks behind: who reads meanwhile sees no part of it.
void PoolNotice::write(const PoolCounts& counts) const {
  constexpr size_t size = 200;
  if (!file_) return;
  std::string text = describe(counts);
  text.resize(size, ' ');
  text.back() = '\n';
  (void)!::pwrite(file_.get(), text.data(), text.size(), 0);
}

std::vector<std::string> describe_pools(const std::string& state) {
  std::vector<std::string> all;
  if (state.empty()) return all;
  for (const auto& name : names_in(folder_in(state))) {
    const std::string path = folder_in(state) + "/" + name;
    const auto file = sys::open(path, O_RDONLY | O_NOFOLLOW);
    if (!file.ok()) continue;
    if (::flock(file.value().get(), LOCK_SH | LOCK_NB) == 0) {
      ::unlink(path.c_str());
      continue;
    }
    const auto text = sys::read_beginning(file.value().get(), 4096);
    const size_t end = text.ok() ? text.value().find_last_not_of(" \n") : std::string::npos;
    if (end == std::string::npos) continue;
    all.push_back("process " + name.substr(0, name.find('-')) + ": " + text.value().substr(0, end + 1));
  }
  return all;
}

}  // namespace cloche
