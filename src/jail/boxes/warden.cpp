#include "jail/boxes/warden.hpp"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "jail/boxes/inotify_proxy.hpp"
#include "jail/boxes/scheduling_proxy.hpp"
#include "jail/boxes/signal_proxy.hpp"
#include "jail/boxes/warden_object.hpp"
#include "jail/boxes/warden_peer.hpp"
#include "jail/boxes/warden_request.hpp"
#include "jail/core/kernel.hpp"

namespace cloche::jail {
namespace {

// ---- the change ----

int change_mode(int object, const struct stat& now, const Path& place, uint32_t mode) {
  static Path again;
  constexpr uint32_t set_id = 06000;
  if ((mode & set_id) != 0) return EPERM;
  if (!S_ISDIR(now.st_mode)) {
    // One name, counted before it is seen that it is this one and still there: a further name outside could
    // otherwise be hidden by removing this one in between.
    if (now.st_nlink != 1 || !place_of(object, again) || again != place) return EPERM;
  }
  const auto changed = ::syscall(SYS_fchmodat, AT_FDCWD, link_to(object).c_str(), mode);
  return changed < 0 ? answer_of(errno) : 0;
}

// To what it is already: archivers running as root ask for that.
int change_owner(const struct stat& now, uint32_t uid, uint32_t gid) {
  constexpr uint32_t as_it_is = ~0U;
  const bool same = (uid == as_it_is || uid == now.st_uid) && (gid == as_it_is || gid == now.st_gid);
  return same ? 0 : EPERM;
}

struct TwoTimes {
  timespec of[2];  // read, written
};

// As the calls have them in memory.
bool read_times(const WardenPeer& peer, const WardenRequest& asked, TwoTimes& times) {
  int64_t words[4] = {};
  const size_t size = asked.times == WardenRequest::Times::seconds ? 16 : 32;
  if (read_memory(peer, asked.times_at, reinterpret_cast<char*>(words), size) != size) return false;
  if (asked.times == WardenRequest::Times::seconds) {
    times = {{{words[0], 0}, {words[1], 0}}};
    return true;
  }
  const bool micro = asked.times == WardenRequest::Times::microseconds;
  constexpr int64_t per_second = 1000000;
  if (micro && (words[1] < 0 || words[1] >= per_second || words[3] < 0 || words[3] >= per_second))
    return false;
  times = {{{words[0], words[1] * (micro ? 1000 : 1)}, {words[2], words[3] * (micro ? 1000 : 1)}}};
  return true;
}

int change_times(int object, const TwoTimes* times) {
  const auto changed =
      ::syscall(SYS_utimensat, AT_FDCWD, link_to(object).c_str(), times == nullptr ? nullptr : times->of, 0);
  return changed < 0 ? answer_of(errno) : 0;
}

int change(const WardenPeer& peer, const WardenRequest& asked) {
  static Path place;
  TwoTimes times{};
  const bool timed = asked.change == WardenRequest::Change::times && asked.times != WardenRequest::Times::now;
  if (timed && !read_times(peer, asked, times)) return EPERM;
  const Handle seen(open_seen(peer, asked));
  if (seen.missing()) return answer_of(errno);
  if (!peer.is_waiting() || !place_of(seen.get(), place)) return EPERM;
  const Handle object(open_in_plan(seen.get(), place, Reach::written));
  struct stat now {};
  if (object.missing() || ::fstat(object.get(), &now) != 0) return EPERM;
  if (asked.change == WardenRequest::Change::mode) return change_mode(object.get(), now, place, asked.mode);
  if (asked.change == WardenRequest::Change::owner) return change_owner(now, asked.uid, asked.gid);
  return change_times(object.get(), timed ? &times : nullptr);
}

Answer answer(const WardenPeer& peer, const WardenRequest& asked) {
  switch (asked.change) {
    case WardenRequest::Change::mode:
    case WardenRequest::Change::owner:
    case WardenRequest::Change::times: return {.error = change(peer, asked)};
    case WardenRequest::Change::schedule: return {.error = set_schedule(peer, asked.schedule)};
    case WardenRequest::Change::watch: return add_watch(peer, asked);
    case WardenRequest::Change::signal: return judge_signal(peer, asked.signal);
    case WardenRequest::Change::nothing: break;
  }
  return {.error = EPERM};
}

}  // namespace

void prepare_listener(int listener) {
  constexpr unsigned long set_flags = _IOW('!', 4, uint64_t);  // SECCOMP_IOCTL_NOTIF_SET_FLAGS
  constexpr unsigned long in_turns = 1;                        // SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
  (void)::ioctl(listener, set_flags, in_turns);
}

void answer_one(int listener) {
  // The kernel may know more members than we do, and wants them to be zero.
  union {
    seccomp_notif asked;
    char room[256];
  } in{.room = {}};
  if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &in) != 0) return;  // the asking thread is gone
  union {
    seccomp_notif_resp reply;
    char room[256];
  } out{.room = {}};
  const WardenPeer peer{listener, in.asked.id, static_cast<pid_t>(in.asked.pid)};
  out.reply.id = peer.id;
  const Answer given = answer(peer, asked_by(in.asked.data));
  if (given.goes_on) out.reply.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  out.reply.error = -given.error;
  out.reply.val = given.value;
  ::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &out);
  signal_asking(given);
}

}  // namespace cloche::jail
