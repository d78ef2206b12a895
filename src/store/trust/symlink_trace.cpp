#include "store/trust/symlink_trace.hpp"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <utility>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

constexpr size_t most_links = 40;  // as the kernel has it

class Follower {
 public:
  explicit Follower(const std::string& path) { put_first(path); }

  SymlinkTrace follow() {
    if (!go_to_root()) return failed(errno, "");
    while (!rest_.empty()) {
      const std::string name = std::move(rest_.back());
      rest_.pop_back();
      if (const int why = step(name)) return failed(why, name);
    }
    trace_.path = here();
    if (::fstat(at_.get(), &trace_.seen) != 0) return failed(errno, "");
    return std::move(trace_);
  }

 private:
  // What is still to be walked has the next name last.
  void put_first(const std::string& path) {
    const auto names = components_of(path);
    rest_.insert(rest_.end(), names.rbegin(), names.rend());
  }

  bool go_to_root() {
    names_.clear();
    at_ = OwnedFd(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    return static_cast<bool>(at_);
  }

  // errno, or zero.
  int step(const std::string& name) {
    OwnedFd next(::openat(at_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat seen {};
    if (!next || ::fstat(next.get(), &seen) != 0) return errno;
    if (S_ISLNK(seen.st_mode)) return follow_link(name, seen);
    at_ = std::move(next);
    // There is no link in what was walked, so the one above is the one before.
    if (name != "..") {
      names_.push_back(name);
    } else if (!names_.empty()) {
      names_.pop_back();
    }
    return 0;
  }

  int follow_link(const std::string& name, const struct stat& seen) {
    if (trace_.links.size() >= most_links) return ELOOP;
    struct statfs holds {};
    if (::fstatfs(at_.get(), &holds) != 0 || holds.f_type == PROC_SUPER_MAGIC)
      return EXDEV;  // leads each process elsewhere
    const std::string says = link_text(at_.get(), name);
    if (says.empty()) return ENOENT;
    trace_.links.push_back({(names_.empty() ? "" : here()) + "/" + name, seen});
    if (says[0] == '/' && !go_to_root()) return errno;
    put_first(says);
    return 0;
  }

  std::string here() const {
    std::string path;
    for (const auto& name : names_) path += "/" + name;
    return path.empty() ? "/" : path;
  }

  SymlinkTrace failed(int why, const std::string& at) {
    trace_.path = here();
    trace_.error = why;
    if (why != ENOENT || at.empty()) return std::move(trace_);
    std::string rest = at;
    for (auto name = rest_.rbegin(); name != rest_.rend(); ++name) rest += "/" + *name;
    trace_.missing = tidied(trace_.path, rest);
    return std::move(trace_);
  }

  OwnedFd at_;
  std::vector<std::string> names_;  // to here
  std::vector<std::string> rest_;
  SymlinkTrace trace_;
};

}  // namespace

SymlinkTrace trace_symlinks(const std::string& path) { return Follower(path).follow(); }

}  // namespace cloche
