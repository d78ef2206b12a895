// What a command asks of its warden (warden.hpp): the arguments of the trapped calls, as one value. Pure: of
// a path or of times there is only the address in the asking process.
#pragma once

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <cstdint>

#include "jail/core/syscalls.hpp"

namespace cloche::jail {

struct WardenRequest {
  enum class Change : unsigned char { nothing, mode, owner, times, schedule, watch, signal };
  // How the times lie in memory. `now` is no address at all.
  enum class Times : unsigned char { now, seconds, microseconds, nanoseconds };

  Change change = Change::nothing;
  int descriptor = AT_FDCWD;  // of the object itself, or of where its path begins
  uint64_t path = 0;          // 0: the descriptor is the object
  bool follow = true;
  bool may_be_empty = false;  // a path without a letter means the descriptor
  uint32_t mode = 0;
  uint32_t uid = 0;
  uint32_t gid = 0;
  Times times = Times::now;
  uint64_t times_at = 0;

  // When and where a thread runs.
  struct Schedule {
    static constexpr uint32_t most_bytes = 128;  // a mask of 1024 processors; the largest attributes

    int number = 0;  // of the call
    int thread = 0;
    uint32_t of = 0;    // what the call calls a thread, where it can be something else
    uint32_t word = 0;  // the policy or priority
    uint64_t at = 0;    // the rest
    uint32_t size = 0;

    bool operator==(const Schedule&) const = default;
  };
  Schedule schedule = {};

  // Whom a signal is for.
  struct Signal {
    int process = 0;  // 0 and below: a group of processes
    int thread = 0;   // of the process, or of any; 0: none is named
    int number = 0;

    bool operator==(const Signal&) const = default;
  };
  Signal signal = {};

  // What is to be heard of the object (inotify), and by which descriptor.
  uint32_t events = 0;
  int watcher = -1;

  bool operator==(const WardenRequest&) const = default;
};

namespace detail {

inline constexpr uint32_t known_flags = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH;

constexpr int int_of(uint64_t argument) { return static_cast<int>(static_cast<uint32_t>(argument)); }

// An unknown flag changes nothing: it means something that we do not.
constexpr WardenRequest with_flags(WardenRequest asked, uint64_t argument) {
  const auto flags = static_cast<uint32_t>(argument);
  if ((flags & ~known_flags) != 0) return {};
  asked.follow = (flags & AT_SYMLINK_NOFOLLOW) == 0;
  asked.may_be_empty = (flags & AT_EMPTY_PATH) != 0;
  return asked;
}

constexpr WardenRequest at_path(WardenRequest::Change change, uint64_t descriptor, uint64_t path) {
  return {.change = path == 0 ? WardenRequest::Change::nothing : change,
          .descriptor = int_of(descriptor),
          .path = path};
}
constexpr WardenRequest at_descriptor(WardenRequest::Change change, uint64_t descriptor) {
  return {.change = change, .descriptor = int_of(descriptor)};
}

constexpr WardenRequest with_mode(WardenRequest asked, uint64_t mode) {
  asked.mode = static_cast<uint32_t>(mode) & 07777U;
  return asked;
}
constexpr WardenRequest with_owner(WardenRequest asked, uint64_t uid, uint64_t gid) {
  asked.uid = static_cast<uint32_t>(uid);
  asked.gid = static_cast<uint32_t>(gid);
  return asked;
}
constexpr WardenRequest with_times(WardenRequest asked, WardenRequest::Times kind, uint64_t address) {
  asked.times = address == 0 ? WardenRequest::Times::now : kind;
  asked.times_at = address;
  return asked;
}

constexpr WardenRequest scheduled(WardenRequest::Schedule schedule) {
  return {.change = WardenRequest::Change::schedule, .schedule = schedule};
}
// Where there is no address there is nothing to say.
constexpr WardenRequest scheduled_at(WardenRequest::Schedule schedule) {
  return schedule.at == 0 ? WardenRequest{} : scheduled(schedule);
}

// inotify_add_watch(watcher, path, events): which of the two is followed is one of the events.
constexpr WardenRequest watched(uint64_t watcher, uint64_t path, uint64_t events) {
  constexpr uint32_t not_followed = 0x02000000;  // IN_DONT_FOLLOW
  WardenRequest asked = at_path(WardenRequest::Change::watch, static_cast<uint64_t>(AT_FDCWD), path);
  asked.follow = (static_cast<uint32_t>(events) & not_followed) == 0;
  asked.events = static_cast<uint32_t>(events) & ~not_followed;
  asked.watcher = int_of(watcher);
  return asked;
}

// PRIO_PROCESS and IOPRIO_WHO_PROCESS; whole groups and users are more than a thread.
constexpr WardenRequest prioritised(const seccomp_data& call, uint32_t process) {
  const auto* a = call.args;
  const auto of = static_cast<uint32_t>(a[0]);
  if (of != process) return {};
  return scheduled(
      {.number = call.nr, .thread = int_of(a[1]), .of = of, .word = static_cast<uint32_t>(a[2])});
}

constexpr WardenRequest signalled(WardenRequest::Signal signal) {
  return {.change = WardenRequest::Change::signal, .signal = signal};
}

constexpr WardenRequest schedule_of(const seccomp_data& call) {
  constexpr uint32_t size_of_parameters = 4;
  constexpr uint64_t most = WardenRequest::Schedule::most_bytes;
  const auto* a = call.args;
  const int thread = int_of(a[0]);
  switch (call.nr) {
    case SYS_sched_setaffinity: {
      const auto size =
          static_cast<uint32_t>(static_cast<uint32_t>(a[1]) < most ? static_cast<uint32_t>(a[1]) : most);
      return scheduled_at({.number = call.nr, .thread = thread, .at = a[2], .size = size});
    }
    case SYS_sched_setscheduler:
      return scheduled_at({.number = call.nr,
                           .thread = thread,
                           .word = static_cast<uint32_t>(a[1]),
                           .at = a[2],
                           .size = size_of_parameters});
    case SYS_sched_setparam:
      return scheduled_at({.number = call.nr, .thread = thread, .at = a[1], .size = size_of_parameters});
    case SYS_sched_setattr: return scheduled_at({.number = call.nr, .thread = thread, .at = a[1]});
    case SYS_setpriority: return prioritised(call, 0);
    case SYS_ioprio_set: return prioritised(call, 1);
    default: return {};
  }
}

}  // namespace detail

// Nothing, for a call that is not the warden's or has no object.
constexpr WardenRequest asked_by(const seccomp_data& call) {
  using Change = WardenRequest::Change;
  using Times = WardenRequest::Times;
  const auto* a = call.args;
  [[maybe_unused]] constexpr auto here = static_cast<uint64_t>(AT_FDCWD);
  const auto times_of = [](uint64_t descriptor, uint64_t path) {
    return path == 0 ? detail::at_descriptor(Change::times, descriptor)
                     : detail::at_path(Change::times, descriptor, path);
  };
  switch (call.nr) {
#ifdef SYS_chmod  // newer architectures have none of these
    case SYS_chmod: return detail::with_mode(detail::at_path(Change::mode, here, a[0]), a[1]);
    case SYS_chown: return detail::with_owner(detail::at_path(Change::owner, here, a[0]), a[1], a[2]);
    case SYS_lchown:
      return detail::with_flags(detail::with_owner(detail::at_path(Change::owner, here, a[0]), a[1], a[2]),
                                AT_SYMLINK_NOFOLLOW);
    case SYS_utime:
      return detail::with_times(detail::at_path(Change::times, here, a[0]), Times::seconds, a[1]);
    case SYS_utimes:
      return detail::with_times(detail::at_path(Change::times, here, a[0]), Times::microseconds, a[1]);
    case SYS_futimesat: return detail::with_times(times_of(a[0], a[1]), Times::microseconds, a[2]);
#endif
    case SYS_fchmod: return detail::with_mode(detail::at_descriptor(Change::mode, a[0]), a[1]);
    case SYS_fchmodat: return detail::with_mode(detail::at_path(Change::mode, a[0], a[1]), a[2]);
    case number_of(Call::fchmodat2):
      return detail::with_flags(detail::with_mode(detail::at_path(Change::mode, a[0], a[1]), a[2]), a[3]);
    case SYS_fchown: return detail::with_owner(detail::at_descriptor(Change::owner, a[0]), a[1], a[2]);
    case SYS_fchownat:
      return detail::with_flags(detail::with_owner(detail::at_path(Change::owner, a[0], a[1]), a[2], a[3]),
                                a[4]);
    case SYS_utimensat:
      return detail::with_flags(detail::with_times(times_of(a[0], a[1]), Times::nanoseconds, a[2]), a[3]);
    case SYS_inotify_add_watch: return detail::watched(a[0], a[1], a[2]);
    case SYS_kill:
      return detail::signalled({.process = detail::int_of(a[0]), .number = detail::int_of(a[1])});
    case SYS_tkill:
      return detail::signalled({.thread = detail::int_of(a[0]), .number = detail::int_of(a[1])});
    case SYS_tgkill:
      return detail::signalled(
          {.process = detail::int_of(a[0]), .thread = detail::int_of(a[1]), .number = detail::int_of(a[2])});
    default: return detail::schedule_of(call);
  }
}

}  // namespace cloche::jail
