#include "gateway/throwaway.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>

#include "base/directory.hpp"
#include "base/path.hpp"
#include "base/sys.hpp"

namespace cloche {
namespace {

constexpr int64_t long_enough_s = 60;  // to take the lock of what one has just made

// While it is made it has this prefix, because nobody holds its lock yet.
std::string unfinished(const std::string& purpose) { return "cloche-new-" + purpose + "-"; }
std::string finished(const std::string& purpose) { return "cloche-try-" + purpose + "-"; }

OwnedFd lock_of(const std::string& path) {
  auto opened = sys::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!opened.ok() || ::flock(opened.value().get(), LOCK_EX | LOCK_NB) != 0) return {};
  return std::move(opened).value();
}

// Others write to the same parents: only what is ours by its owner, and what nobody is using any more.
bool is_left_over(const std::string& path, bool was_finished) {
  struct stat seen {};
  if (::lstat(path.c_str(), &seen) != 0 || !S_ISDIR(seen.st_mode) || seen.st_uid != ::geteuid()) return false;
  return was_finished || ::time(nullptr) - seen.st_mtim.tv_sec > long_enough_s;
}

void sweep(const std::string& parent, const std::string& purpose) {
  for (const auto& name : names_in(parent)) {
    const bool was_finished = name.starts_with(finished(purpose));
    if (!was_finished && !name.starts_with(unfinished(purpose))) continue;
    const std::string path = parent + "/" + name;
    if (is_left_over(path, was_finished) && lock_of(path)) remove_tree(path);
  }
}

}  // namespace

std::vector<std::string> throwaway_parents(const Environment& environment, bool root) {
  std::vector<std::string> parents = {"/var/tmp", "/tmp"};
  for (const char* name : {"TMPDIR", "XDG_RUNTIME_DIR"}) {
    const std::string said = environment.get(name);
    if (is_plain_absolute(said) && said != "/") parents.push_back(said);
  }
  if (root) parents.emplace_back("/run");
  parents.emplace_back("/dev/shm");
  return parents;
}

Throwaway::Throwaway(const std::string& purpose, const Environment& environment)
    : parents_(throwaway_parents(environment, ::geteuid() == 0)) {
  for (const std::string& parent : parents_) {
    sweep(parent, purpose);
    std::string made = parent + "/" + unfinished(purpose) + "XXXXXX";
    if (::mkdtemp(made.data()) == nullptr) {
      number_ = errno;
      continue;
    }
    lock_ = lock_of(made);
    path_ = parent + "/" + finished(purpose) + made.substr(made.size() - 6);
    if (lock_ && ::rename(made.c_str(), path_.c_str()) == 0) return;
    ::rmdir(made.c_str());
    path_.clear();
  }
}

Error Throwaway::why_not() const {
  std::string tried;
  for (const auto& parent : parents_) tried += (tried.empty() ? "" : ", ") + parent;
  Error error = system_error("make a directory to try it in (" + tried + ")", number_);
  error.fix = "set TMPDIR to a directory that you can write to";
  return error;
}

Throwaway::~Throwaway() {
  if (!path_.empty()) remove_tree(path_);
}

RunRequest in_throwaway(const Throwaway& workspace, std::vector<std::string> argv) {
  RunRequest request;
  request.argv = std::move(argv);
  request.workspace = workspace.path();
  request.toolchains = "none";
  return request;
}

}  // namespace cloche
