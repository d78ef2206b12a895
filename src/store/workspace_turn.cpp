#include "store/workspace_turn.hpp"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"

namespace cloche {
namespace {

constexpr const char* file_name = "turns";
constexpr uint64_t say_after_ms = 1000;

// What the bytes of a directory say while they are locked.
enum class Says : uint64_t {
  changed_here,  // somebody changes something beneath it, and it is his root; read locks
  changed,       // somebody changes something in it or below (read lock), or nobody may (write lock)
  alone_below,   // somebody wants to be alone in a directory below it; read locks
};

using Place = off_t;

// Two directories of one hash would only wait for each other without need.
Place place_of(Says says, std::string_view directory) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : directory) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return static_cast<Place>((hash >> 4 << 2) | static_cast<uint64_t>(says));
}

std::vector<std::string_view> directories_above(std::string_view directory) {
  std::vector<std::string_view> above;
  while (directory != "/" && !directory.empty()) above.push_back(directory = parent_of(directory));
  return above;
}

struct Locks {
  std::map<Place, short> held;  // F_RDLCK or F_WRLCK
  std::set<Place> free;         // what nobody else may hold; looked at once all of `held` is
};

// Both sides first say what they do and look for the other then: of two that come at once, one sees the
// other.
Locks locks_of(const Turn& turn) {
  Locks locks;
  for (const auto& root : turn.changes) {
    locks.held[place_of(Says::changed_here, root)] = F_RDLCK;
    locks.held[place_of(Says::changed, root)] = F_RDLCK;
    for (const auto above : directories_above(root)) locks.held[place_of(Says::changed, above)] = F_RDLCK;
    locks.free.insert(place_of(Says::alone_below, root));
  }
  for (const auto& root : turn.alone) {
    locks.held[place_of(Says::changed, root)] = F_WRLCK;
    for (const auto above : directories_above(root)) {
      locks.held[place_of(Says::alone_below, above)] = F_RDLCK;
      locks.free.insert(place_of(Says::changed_here, above));
    }
  }
  return locks;
}

struct flock at_place(short type, Place place, off_t bytes = 1) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = place;
  lock.l_len = bytes;
  return lock;
}

// False: somebody is in the way, and nothing is held.
Result<bool> try_to_hold(int fd, const Locks& locks) {
  bool is_free = true;
  for (auto at = locks.held.begin(); is_free && at != locks.held.end(); ++at) {
    struct flock lock = at_place(at->second, at->first);
    if (::fcntl(fd, F_OFD_SETLK, &lock) == 0) continue;
    if (errno != EAGAIN && errno != EACCES && errno != EINTR)
      return system_error("say what the call changes");
    is_free = false;
  }
  for (auto place = locks.free.begin(); is_free && place != locks.free.end(); ++place) {
    struct flock lock = at_place(F_WRLCK, *place);
    if (::fcntl(fd, F_OFD_GETLK, &lock) != 0) return system_error("look for other calls");
    is_free = lock.l_type == F_UNLCK;
  }
  if (is_free) return true;
  struct flock all = at_place(F_UNLCK, 0, 0);
  if (::fcntl(fd, F_OFD_SETLK, &all) != 0) return system_error("make way for other calls");
  return false;
}

// True: nobody wants to wait any more.
bool pause(int stop, uint64_t ms) {
  pollfd event{stop, POLLIN, 0};
  return ::poll(&event, 1, static_cast<int>(ms)) > 0;
}

std::string who_is_in_the_way(const Turn& turn) {
  if (turn.alone.empty()) return "an approved call runs in this workspace, and no other beside it";
  return "other calls still run in this workspace, and could change the files that this one is asked about";
}

Error too_long(const Turn& turn) {
  return refusal(who_is_in_the_way(turn), "call it again when they have ended, or end them");
}

Result<void> hold_within(int fd, const Turn& turn, const Patience& patience) {
  const Locks locks = locks_of(turn);
  const uint64_t begun_ms = sys::monotonic_ms();
  bool said = !patience.waits;
  for (uint64_t pause_ms = 1; !TRY(try_to_hold(fd, locks)); pause_ms = std::min<uint64_t>(2 * pause_ms, 20)) {
    const uint64_t waited_ms = sys::monotonic_ms() - begun_ms;
    if (waited_ms >= patience.most_ms) return too_long(turn);
    if (!said && waited_ms >= say_after_ms) {
      patience.waits(who_is_in_the_way(turn));
      said = true;
    }
    if (pause(patience.stop, pause_ms)) return refusal("cancelled while it waited for other calls");
  }
  return {};
}

bool may_write(const ViewEntry& entry) {
  return entry.kind == EntryKind::tree &&
         (entry.access == Access::write || entry.access == Access::write_run);
}

}  // namespace

Result<OwnedFd> take_turn(const std::string& state, const Turn& turn, const Patience& patience) {
  if (turn.changes.empty() && turn.alone.empty()) return OwnedFd();
  const bool alone = !turn.alone.empty();
  const std::string path = state + "/" + file_name;
  const bool there = !state.empty() && make_private_directories(state);
  OwnedFd fd(there ? ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600) : -1);
  if (!fd && alone)
    return refusal("nothing keeps other calls from changing the files that this one is asked about: " +
                       (state.empty() ? "there is no state directory" : "cannot open " + path),
                   "set XDG_STATE_HOME to a directory that only you and root can change");
  if (!fd) return OwnedFd();  // nor can anybody else be alone
  TRY(hold_within(fd.get(), turn, patience));
  return fd;
}

std::vector<std::string> trees_changed_by(const ConfinementPlan& plan) {
  if (plan.backend == Backend::none) return {"/"};
  std::vector<std::string> trees;
  for (const auto& entry : plan.view) {
    if (may_write(entry) && entry.role == EntryRole::shown) trees.push_back(entry.source);
  }
  return trees;
}

}  // namespace cloche
