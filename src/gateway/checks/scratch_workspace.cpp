#include "gateway/checks/scratch_workspace.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>

#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/private_file.hpp"
#include "base/sys/sys.hpp"

namespace cloche {
namespace {

constexpr int64_t long_enough_s = 60;  // to take the lock of what one has just made

constexpr std::string_view unfinished = "cloche-new-";  // while it is made: no process holds its lock yet

// Others write to the same parents: only what is ours by its owner, and what no process uses any more.
bool is_left_over(const std::string& path, bool was_finished) {
  struct stat seen {};
  if (::lstat(path.c_str(), &seen) != 0 || !S_ISDIR(seen.st_mode) || seen.st_uid != ::geteuid()) return false;
  return was_finished || ::time(nullptr) - seen.st_mtim.tv_sec > long_enough_s;
}

void sweep(const std::string& parent) {
  for (const auto& name : names_in(parent)) {
    const bool was_finished = name.starts_with(scratch_prefix);
    if (!was_finished && !name.starts_with(unfinished)) continue;
    const std::string path = parent + "/" + name;
    if (is_left_over(path, was_finished) && lock_scratch(path)) remove_tree(path);
  }
}

std::string notes_in(const std::string& state) { return state + "/tried"; }

// Its parent is a place where others write as well. Whether it is gone now.
bool is_removed(const std::string& path) {
  struct stat seen {};
  if (::lstat(path.c_str(), &seen) != 0) return true;
  if (!S_ISDIR(seen.st_mode) || seen.st_uid != ::geteuid()) return true;  // another's, by the same name
  const OwnedFd lock = lock_scratch(path);
  if (lock) remove_tree(path);
  return static_cast<bool>(lock);
}

}  // namespace

std::string scratch_note(const std::string& state, const std::string& name) {
  return notes_in(state) + "/" + name;
}

OwnedFd lock_scratch(const std::string& path) {
  auto opened = sys::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!opened.ok() || ::flock(opened.value().get(), LOCK_EX | LOCK_NB) != 0) return {};
  return std::move(opened).value();
}

void clear_scratch(const std::string& state) {
  constexpr size_t most_bytes = 4096;
  if (state.empty()) return;
  for (const auto& name : names_in(notes_in(state))) {
    if (!name.starts_with(scratch_prefix) || name.find('.') != std::string::npos) continue;  // half a note
    const std::string note = scratch_note(state, name);
    const auto parent = read_private_file(note, most_bytes);
    if (parent.ok() && is_removed(parent.value() + "/" + name)) ::unlink(note.c_str());
  }
}

std::vector<std::string> scratch_parents(const Environment& environment, bool root) {
  std::vector<std::string> parents = {"/var/tmp", "/tmp"};
  for (const char* name : {"TMPDIR", "XDG_RUNTIME_DIR"}) {
    const std::string said = environment.get(name);
    if (is_plain_absolute(said) && said != "/") parents.push_back(said);
  }
  if (root) parents.emplace_back("/run");
  parents.emplace_back("/dev/shm");
  return parents;
}

ScratchWorkspace::ScratchWorkspace(const std::string& purpose, const Environment& environment,
                                   const std::string& state)
    : parents_(scratch_parents(environment, ::geteuid() == 0)) {
  for (const std::string& parent : parents_) {
    sweep(parent);
    const std::string tail = purpose + "-XXXXXX";
    std::string made = parent + "/" + std::string(unfinished) + tail;
    if (::mkdtemp(made.data()) == nullptr) {
      number_ = errno;
      continue;
    }
    lock_ = lock_scratch(made);
    const std::string name = std::string(scratch_prefix) + made.substr(made.size() - tail.size());
    path_ = parent + "/" + name;
    if (lock_ && ::rename(made.c_str(), path_.c_str()) == 0) {
      leave_note(state, name, parent);
      return;
    }
    ::rmdir(made.c_str());
    path_.clear();
  }
}

Error ScratchWorkspace::why_not() const {
  std::string tried;
  for (const auto& parent : parents_) tried += (tried.empty() ? "" : ", ") + parent;
  Error error = system_error("make a directory to try it in (" + tried + ")", number_);
  error.fix = "set TMPDIR to a directory that you can write to";
  return error;
}

// When it is locked: a reader of the note takes what is not locked for abandoned.
void ScratchWorkspace::leave_note(const std::string& state, const std::string& name,
                                  const std::string& parent) {
  if (state.empty()) return;
  note_ = scratch_note(state, name);
  write_private_file(note_, parent);
}

ScratchWorkspace::~ScratchWorkspace() {
  if (!path_.empty()) remove_tree(path_);
  if (!note_.empty()) ::unlink(note_.c_str());
}

RunRequest in_scratch(const ScratchWorkspace& workspace, std::vector<std::string> argv) {
  RunRequest request;
  request.argv = std::move(argv);
  request.workspace = workspace.path();
  request.toolchains = "none";
  return request;
}

}  // namespace cloche
