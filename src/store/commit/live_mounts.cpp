#include "store/commit/live_mounts.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <sstream>
#include <utility>

#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/random_word.hpp"
#include "base/text/visible_text.hpp"
#include "model/changes_outcome.hpp"
#include "store/commit/commit_lock.hpp"
#include "store/commit/tree_directories.hpp"

namespace cloche {
namespace {

using Identity = std::pair<uint64_t, uint64_t>;  // device and inode

constexpr size_t most_bytes = size_t{1} << 20;

std::string live_calls_of(const std::string& state) { return state + "/live-calls"; }

// Another call may take one that is not locked yet for that of a call that was killed, and remove it.
Result<std::pair<std::string, OwnedFd>> make_locked_file(const std::string& directory) {
  constexpr int most_tries = 10;
  constexpr size_t letters = 12;
  for (int tries = 0; tries < most_tries; ++tries) {
    std::string path = directory + "/" + TRY(random_word(letters));
    OwnedFd file = TRY(sys::open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
    struct stat seen {};
    if (::flock(file.get(), LOCK_EX) != 0 || ::fstat(file.get(), &seen) != 0)
      return system_error("lock " + path);
    if (seen.st_nlink > 0) return std::pair(std::move(path), std::move(file));
  }
  return refusal("other calls kept removing what was made in " + directory, "call again");
}

Result<std::string> identities_text(const std::vector<FileFact>& places) {
  std::string text;
  for (const FileFact& place : places) {
    struct stat now {};
    if (::lstat(place.path.c_str(), &now) != 0 || now.st_dev != place.device || now.st_ino != place.inode)
      return refusal(shown(place.path) + " changed while it was looked at", "call again");
    text += std::to_string(place.device) + " " + std::to_string(place.inode) + "\n";
  }
  return text;
}

void add_identities(std::set<Identity>& found, const std::string& text) {
  std::istringstream lines(text);
  for (Identity one; lines >> one.first >> one.second;) found.insert(one);
}

// Of all live calls that are running.
Result<std::set<Identity>> read_identities(const std::string& state) {
  std::set<Identity> found;
  const std::string directory = live_calls_of(state);
  for (const auto& name : names_in(directory)) {
    const std::string path = directory + "/" + name;
    auto file = sys::open(path, O_RDONLY | O_NOFOLLOW);
    if (!file.ok() && file.error().number == ENOENT) continue;  // its call has ended
    if (!file.ok()) return file.take_error();
    if (::flock(file.value().get(), LOCK_SH | LOCK_NB) == 0) {
      ::unlink(path.c_str());  // its call was killed
    } else if (errno != EWOULDBLOCK) {
      return system_error("lock " + path);
    } else {
      add_identities(found, TRY(sys::read_all(file.value().get(), most_bytes)));
    }
  }
  return found;
}

// A directory that stays one is not replaced, whatever changes in it.
bool takes_away(const Change& change) {
  return change.before && (!is_directory(change.before) || takes_directory(change));
}

}  // namespace

LiveMounts& LiveMounts::operator=(LiveMounts&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(lock_, other.lock_);
  return *this;
}

LiveMounts::~LiveMounts() {
  if (lock_) ::unlink(path_.c_str());
}

Result<LiveMounts> LiveMounts::announce(const std::string& state, const std::vector<ChangedTree>& trees,
                                        const std::vector<FileFact>& places) {
  LiveMounts mounts;
  if (state.empty() || places.empty()) return mounts;
  const std::string directory = live_calls_of(state);
  if (!make_private_directories(directory)) {
    const bool is_closed = errno == EACCES || errno == EROFS || errno == EPERM;
    return is_closed ? Result<LiveMounts>(std::move(mounts)) : system_error("make " + directory);
  }
  const auto lock = TRY(lock_commits(state, trees));
  const std::string text = TRY(identities_text(places));
  std::tie(mounts.path_, mounts.lock_) = TRY(make_locked_file(directory));
  TRY(sys::write_all(mounts.lock_.get(), text));
  return mounts;
}

std::optional<std::string> why_held_by_live_call(const std::string& state, std::span<const CommitTree> trees,
                                                 const ChangeSet& changes,
                                                 const std::vector<ChangeVerdict>& verdicts) {
  const auto mounted = read_identities(state);
  if (!mounted.ok()) return "what live calls have mounts on is not known: " + describe(mounted.error());
  if (mounted.value().empty()) return std::nullopt;
  TreeDirectories directories(trees);
  for (size_t i = 0; i < changes.changes.size(); ++i) {
    const Change& change = changes.changes[i];
    if (verdicts[i].fate != Fate::committed || change.path.empty() || !takes_away(change)) continue;
    const int directory = directories.open(change.tree, StepSide::project, directory_in(change.path));
    const auto there = directory >= 0 ? look_in(directory, last_of(change.path)) : std::nullopt;
    if (there && mounted.value().contains({there->st_dev, there->st_ino}))
      return "a live call is running in this project, and until it has ended nothing replaces or removes " +
             shown(shown_path(changes, change.tree, change.path));
  }
  return std::nullopt;
}

}  // namespace cloche
