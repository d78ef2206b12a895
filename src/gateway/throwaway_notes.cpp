#include "gateway/throwaway_notes.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys/directory.hpp"
#include "base/sys/private_file.hpp"
#include "base/sys/sys.hpp"

namespace cloche {
namespace {

std::string notes_in(const std::string& state) { return state + "/tried"; }

// Its parent is a place where others write as well. Whether it is gone now.
bool is_removed(const std::string& path) {
  struct stat seen {};
  if (::lstat(path.c_str(), &seen) != 0) return true;
  if (!S_ISDIR(seen.st_mode) || seen.st_uid != ::geteuid()) return true;  // another's, by the same name
  const OwnedFd lock = lock_throwaway(path);
  if (lock) remove_tree(path);
  return static_cast<bool>(lock);
}

}  // namespace

std::string throwaway_note(const std::string& state, const std::string& name) {
  return notes_in(state) + "/" + name;
}

OwnedFd lock_throwaway(const std::string& path) {
  auto opened = sys::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!opened.ok() || ::flock(opened.value().get(), LOCK_EX | LOCK_NB) != 0) return {};
  return std::move(opened).value();
}

void clear_throwaways(const std::string& state) {
  constexpr size_t most_bytes = 4096;
  if (state.empty()) return;
  for (const auto& name : names_in(notes_in(state))) {
    if (!name.starts_with(throwaway_prefix) || name.find('.') != std::string::npos) continue;  // half a note
    const std::string note = throwaway_note(state, name);
    const auto parent = read_private_file(note, most_bytes);
    if (parent.ok() && is_removed(parent.value() + "/" + name)) ::unlink(note.c_str());
  }
}

}  // namespace cloche
