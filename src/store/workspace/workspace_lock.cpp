#include "store/workspace/workspace_lock.hpp"

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

// What the lock on a byte of a directory means.
enum class LockMeaning : uint64_t {
  changed_here,  // a call changes something beneath it, and named this directory; read locks
  changed,       // a call changes something in it or below (read lock), or none may (write lock)
  alone_below,   // a call wants to be alone in a directory below it; read locks
};

// Where two directories have the same hash, calls only wait without need.
off_t byte_of(LockMeaning meaning, std::string_view directory) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : directory) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return static_cast<off_t>((hash >> 4 << 2) | static_cast<uint64_t>(meaning));
}

std::vector<std::string_view> directories_above(std::string_view directory) {
  std::vector<std::string_view> above;
  while (directory != "/" && !directory.empty()) above.push_back(directory = parent_of(directory));
  return above;
}

struct Locks {
  std::map<off_t, short> held;  // F_RDLCK or F_WRLCK
  std::set<off_t> free;         // what no other call may hold; checked when all of `held` is held
};

// Each call first takes its locks and then looks for those of others: of two that come at once, at least one
// sees the other.
Locks locks_of(const WorkspaceClaim& claim) {
  Locks locks;
  for (const auto& root : claim.changes) {
    locks.held[byte_of(LockMeaning::changed_here, root)] = F_RDLCK;
    locks.held[byte_of(LockMeaning::changed, root)] = F_RDLCK;
    for (const auto above : directories_above(root))
      locks.held[byte_of(LockMeaning::changed, above)] = F_RDLCK;
    locks.free.insert(byte_of(LockMeaning::alone_below, root));
  }
  for (const auto& root : claim.alone) {
    locks.held[byte_of(LockMeaning::changed, root)] = F_WRLCK;
    for (const auto above : directories_above(root)) {
      locks.held[byte_of(LockMeaning::alone_below, above)] = F_RDLCK;
      locks.free.insert(byte_of(LockMeaning::changed_here, above));
    }
  }
  return locks;
}

struct flock lock_at(short type, off_t first, off_t bytes = 1) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = first;
  lock.l_len = bytes;
  return lock;
}

// False: another call is in the way, and nothing is held.
Result<bool> try_to_hold(int fd, const Locks& locks) {
  bool is_free = true;
  for (auto at = locks.held.begin(); is_free && at != locks.held.end(); ++at) {
    struct flock lock = lock_at(at->second, at->first);
    if (::fcntl(fd, F_OFD_SETLK, &lock) == 0) continue;
    if (errno != EAGAIN && errno != EACCES && errno != EINTR)
      return system_error("say what the call changes");
    is_free = false;
  }
  for (auto at = locks.free.begin(); is_free && at != locks.free.end(); ++at) {
    struct flock lock = lock_at(F_WRLCK, *at);
    if (::fcntl(fd, F_OFD_GETLK, &lock) != 0) return system_error("look for other calls");
    is_free = lock.l_type == F_UNLCK;
  }
  if (is_free) return true;
  struct flock all = lock_at(F_UNLCK, 0, 0);
  if (::fcntl(fd, F_OFD_SETLK, &all) != 0) return system_error("make way for other calls");
  return false;
}

bool is_cancelled_within(int stop, uint64_t ms) {
  pollfd event{stop, POLLIN, 0};
  return ::poll(&event, 1, static_cast<int>(ms)) > 0;
}

}  // namespace

Result<OwnedFd> lock_workspaces(const std::string& state, const WorkspaceClaim& claim,
                                const Patience& patience) {
  if (claim.changes.empty() && claim.alone.empty()) return OwnedFd();
  const bool alone = !claim.alone.empty();
  const std::string path = state + "/" + file_name;
  const bool there = !state.empty() && make_private_directories(state);
  OwnedFd fd(there ? ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600) : -1);
  if (!fd && alone)
    return refusal("nothing keeps other calls from changing the files that this one is asked about: " +
                       (state.empty() ? "there is no state directory" : "cannot open " + path),
                   "set XDG_STATE_HOME to a directory that only you and root can change");
  if (!fd) return OwnedFd();  // no other call can be alone either
  const Locks locks = locks_of(claim);
  TRY(wait_for_lock([&] { return try_to_hold(fd.get(), locks); },
                    alone ? WaitsFor::other_calls : WaitsFor::approved_call, patience));
  return fd;
}

Result<void> wait_for_lock(const std::function<Result<bool>()>& try_to_hold, WaitsFor what,
                           const Patience& patience) {
  const uint64_t begun_ms = sys::monotonic_ms();
  bool said = !patience.waits;
  for (uint64_t pause_ms = 1; !TRY(try_to_hold()); pause_ms = std::min<uint64_t>(2 * pause_ms, 20)) {
    const uint64_t waited_ms = sys::monotonic_ms() - begun_ms;
    if (waited_ms >= patience.most_ms) return judge_wait(what, WaitEnd::too_long);
    if (!said && waited_ms >= say_after_ms) {
      patience.waits(why_waiting(what));
      said = true;
    }
    if (is_cancelled_within(patience.stop, pause_ms)) return judge_wait(what, WaitEnd::cancelled);
  }
  return {};
}

}  // namespace cloche
