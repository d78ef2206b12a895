#include "gateway/throwaway.hpp"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>

#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/private_file.hpp"
#include "gateway/throwaway_notes.hpp"

namespace cloche {
namespace {

constexpr int64_t long_enough_s = 60;  // to take the lock of what one has just made

constexpr std::string_view unfinished = "cloche-new-";  // while it is made: nobody holds its lock yet

// Others write to the same parents: only what is ours by its owner, and what nobody is using any more.
bool is_left_over(const std::string& path, bool was_finished) {
  struct stat seen {};
  if (::lstat(path.c_str(), &seen) != 0 || !S_ISDIR(seen.st_mode) || seen.st_uid != ::geteuid()) return false;
  return was_finished || ::time(nullptr) - seen.st_mtim.tv_sec > long_enough_s;
}

void sweep(const std::string& parent) {
  for (const auto& name : names_in(parent)) {
    const bool was_finished = name.starts_with(throwaway_prefix);
    if (!was_finished && !name.starts_with(unfinished)) continue;
    const std::string path = parent + "/" + name;
    if (is_left_over(path, was_finished) && lock_throwaway(path)) remove_tree(path);
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

Throwaway::Throwaway(const std::string& purpose, const Environment& environment, const std::string& state)
    : parents_(throwaway_parents(environment, ::geteuid() == 0)) {
  for (const std::string& parent : parents_) {
    sweep(parent);
    const std::string tail = purpose + "-XXXXXX";
    std::string made = parent + "/" + std::string(unfinished) + tail;
    if (::mkdtemp(made.data()) == nullptr) {
      number_ = errno;
      continue;
    }
    lock_ = lock_throwaway(made);
    const std::string name = std::string(throwaway_prefix) + made.substr(made.size() - tail.size());
    path_ = parent + "/" + name;
    if (lock_ && ::rename(made.c_str(), path_.c_str()) == 0) {
      leave_note(state, name, parent);
      return;
    }
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

// When it is locked: whoever reads the note takes what is not for abandoned.
void Throwaway::leave_note(const std::string& state, const std::string& name, const std::string& parent) {
  if (state.empty()) return;
  note_ = throwaway_note(state, name);
  write_private_file(note_, parent);
}

Throwaway::~Throwaway() {
  if (!path_.empty()) remove_tree(path_);
  if (!note_.empty()) ::unlink(note_.c_str());
}

RunRequest in_throwaway(const Throwaway& workspace, std::vector<std::string> argv) {
  RunRequest request;
  request.argv = std::move(argv);
  request.workspace = workspace.path();
  request.workspace_goes = true;
  request.toolchains = "none";
  return request;
}

}  // namespace cloche
