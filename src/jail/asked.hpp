// What a command asks of its warden (warden.hpp): the arguments of the trapped calls, as one value. Pure: of
// a path or of times there is only the address in the asking process.
#pragma once

#include <fcntl.h>
#include <linux/seccomp.h>

#include <cstdint>

#include "jail/syscalls.hpp"

namespace cloche::jail {

struct Asked {
  enum class Change : unsigned char { nothing, mode, owner, times };
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

  bool operator==(const Asked&) const = default;
};

namespace detail {

inline constexpr uint32_t known_flags = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH;

constexpr int int_of(uint64_t argument) { return static_cast<int>(static_cast<uint32_t>(argument)); }

// An unknown flag changes nothing: it means something that we do not.
constexpr Asked with_flags(Asked asked, uint64_t argument) {
  const auto flags = static_cast<uint32_t>(argument);
  if ((flags & ~known_flags) != 0) return {};
  asked.follow = (flags & AT_SYMLINK_NOFOLLOW) == 0;
  asked.may_be_empty = (flags & AT_EMPTY_PATH) != 0;
  return asked;
}

constexpr Asked at_path(Asked::Change change, uint64_t descriptor, uint64_t path) {
  return {
      .change = path == 0 ? Asked::Change::nothing : change, .descriptor = int_of(descriptor), .path = path};
}
constexpr Asked at_descriptor(Asked::Change change, uint64_t descriptor) {
  return {.change = change, .descriptor = int_of(descriptor)};
}

constexpr Asked with_mode(Asked asked, uint64_t mode) {
  asked.mode = static_cast<uint32_t>(mode) & 07777U;
  return asked;
}
constexpr Asked with_owner(Asked asked, uint64_t uid, uint64_t gid) {
  asked.uid = static_cast<uint32_t>(uid);
  asked.gid = static_cast<uint32_t>(gid);
  return asked;
}
constexpr Asked with_times(Asked asked, Asked::Times kind, uint64_t address) {
  asked.times = address == 0 ? Asked::Times::now : kind;
  asked.times_at = address;
  return asked;
}

}  // namespace detail

// Nothing, for a call that is not the warden's or has no object.
constexpr Asked asked_by(const seccomp_data& call) {
  using Change = Asked::Change;
  using Times = Asked::Times;
  const auto* a = call.args;
  constexpr auto here = static_cast<uint64_t>(AT_FDCWD);
  const auto times_of = [](uint64_t descriptor, uint64_t path) {
    return path == 0 ? detail::at_descriptor(Change::times, descriptor)
                     : detail::at_path(Change::times, descriptor, path);
  };
  switch (call.nr) {
    case SYS_chmod: return detail::with_mode(detail::at_path(Change::mode, here, a[0]), a[1]);
    case SYS_fchmod: return detail::with_mode(detail::at_descriptor(Change::mode, a[0]), a[1]);
    case SYS_fchmodat: return detail::with_mode(detail::at_path(Change::mode, a[0], a[1]), a[2]);
    case number::fchmodat2:
      return detail::with_flags(detail::with_mode(detail::at_path(Change::mode, a[0], a[1]), a[2]), a[3]);
    case SYS_chown: return detail::with_owner(detail::at_path(Change::owner, here, a[0]), a[1], a[2]);
    case SYS_lchown:
      return detail::with_flags(detail::with_owner(detail::at_path(Change::owner, here, a[0]), a[1], a[2]),
                                AT_SYMLINK_NOFOLLOW);
    case SYS_fchown: return detail::with_owner(detail::at_descriptor(Change::owner, a[0]), a[1], a[2]);
    case SYS_fchownat:
      return detail::with_flags(detail::with_owner(detail::at_path(Change::owner, a[0], a[1]), a[2], a[3]),
                                a[4]);
    case SYS_utime:
      return detail::with_times(detail::at_path(Change::times, here, a[0]), Times::seconds, a[1]);
    case SYS_utimes:
      return detail::with_times(detail::at_path(Change::times, here, a[0]), Times::microseconds, a[1]);
    case SYS_futimesat: return detail::with_times(times_of(a[0], a[1]), Times::microseconds, a[2]);
    case SYS_utimensat:
      return detail::with_flags(detail::with_times(times_of(a[0], a[1]), Times::nanoseconds, a[2]), a[3]);
    default: return {};
  }
}

}  // namespace cloche::jail
