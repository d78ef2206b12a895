#include "jail/boxes/warden_request.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace cloche::jail {
namespace {

using Change = WardenRequest::Change;
using Times = WardenRequest::Times;

constexpr uint64_t path = 0x7f0000001000, times = 0x7f0000002000;
constexpr auto here = static_cast<uint64_t>(AT_FDCWD);
constexpr uint64_t upper_half = uint64_t{5} << 32;  // an int to the kernel: it makes no difference

struct Row {
  const char* name;
  int number;
  std::array<uint64_t, 6> arguments;
  WardenRequest asked;
};

const Row rows[] = {
    {"chmod", number_of(Call::chmod), {path, 0755}, {.change = Change::mode, .path = path, .mode = 0755}},
    {"a file type is no mode",
     number_of(Call::chmod),
     {path, 0100755},
     {.change = Change::mode, .path = path, .mode = 0755}},
    {"set-id bits stay to be seen",
     number_of(Call::chmod),
     {path, 04755},
     {.change = Change::mode, .path = path, .mode = 04755}},
    {"chmod of nothing", number_of(Call::chmod), {0, 0755}, {.mode = 0755}},
    {"fchmod", number_of(Call::fchmod), {7, 0600}, {.change = Change::mode, .descriptor = 7, .mode = 0600}},
    {"fchmodat",
     number_of(Call::fchmodat),
     {here, path, 0600},
     {.change = Change::mode, .path = path, .mode = 0600}},
    {"fchmodat has no flags",
     number_of(Call::fchmodat),
     {9, path, 0600, AT_SYMLINK_NOFOLLOW},
     {.change = Change::mode, .descriptor = 9, .path = path, .mode = 0600}},
    {"fchmodat2 of a link",
     number_of(Call::fchmodat2),
     {9, path, 0600, AT_SYMLINK_NOFOLLOW},
     {.change = Change::mode, .descriptor = 9, .path = path, .follow = false, .mode = 0600}},
    {"fchmodat2 of a descriptor",
     number_of(Call::fchmodat2),
     {9 | upper_half, path, 0600, AT_EMPTY_PATH},
     {.change = Change::mode, .descriptor = 9, .path = path, .may_be_empty = true, .mode = 0600}},
    {"inotify_add_watch",
     number_of(Call::inotify_add_watch),
     {5 | upper_half, path, 2 | upper_half},
     {.change = Change::watch, .path = path, .events = 2, .watcher = 5}},
    {"a watch of a link itself",
     number_of(Call::inotify_add_watch),
     {5, path, 0x02000002},
     {.change = Change::watch, .path = path, .follow = false, .events = 2, .watcher = 5}},
    {"kill of a group",
     number_of(Call::kill),
     {static_cast<uint64_t>(-5) & 0xffffffffU, 9 | upper_half},
     {.change = Change::signal, .signal = {.process = -5, .number = 9}}},
    {"tkill",
     number_of(Call::tkill),
     {7, 15},
     {.change = Change::signal, .signal = {.thread = 7, .number = 15}}},
    {"tgkill",
     number_of(Call::tgkill),
     {7 | upper_half, 8, 15},
     {.change = Change::signal, .signal = {.process = 7, .thread = 8, .number = 15}}},
    {"an unknown flag", number_of(Call::fchmodat2), {9, path, 0600, 0x40}, {}},
    {"chown",
     number_of(Call::chown),
     {path, 1, ~0ULL},
     {.change = Change::owner, .path = path, .uid = 1, .gid = ~0U}},
    {"lchown",
     number_of(Call::lchown),
     {path, 1, 2},
     {.change = Change::owner, .path = path, .follow = false, .uid = 1, .gid = 2}},
    {"fchown",
     number_of(Call::fchown),
     {3, 1, 2},
     {.change = Change::owner, .descriptor = 3, .uid = 1, .gid = 2}},
    {"fchownat",
     number_of(Call::fchownat),
     {3, path, 1, 2, AT_EMPTY_PATH},
     {.change = Change::owner, .descriptor = 3, .path = path, .may_be_empty = true, .uid = 1, .gid = 2}},
    {"utime",
     number_of(Call::utime),
     {path, times},
     {.change = Change::times, .path = path, .times = Times::seconds, .times_at = times}},
    {"utimes now", number_of(Call::utimes), {path, 0}, {.change = Change::times, .path = path}},
    {"futimesat",
     number_of(Call::futimesat),
     {4, path, times},
     {.change = Change::times,
      .descriptor = 4,
      .path = path,
      .times = Times::microseconds,
      .times_at = times}},
    {"futimesat of a descriptor",
     number_of(Call::futimesat),
     {4, 0, times},
     {.change = Change::times, .descriptor = 4, .times = Times::microseconds, .times_at = times}},
    {"futimens",
     number_of(Call::utimensat),
     {4, 0, times, 0},
     {.change = Change::times, .descriptor = 4, .times = Times::nanoseconds, .times_at = times}},
    {"utimensat of a link",
     number_of(Call::utimensat),
     {here, path, times, AT_SYMLINK_NOFOLLOW},
     {.change = Change::times,
      .path = path,
      .follow = false,
      .times = Times::nanoseconds,
      .times_at = times}},
    {"utimensat with an unknown flag", number_of(Call::utimensat), {here, path, times, 0x800}, {}},
    {"affinity",
     number_of(Call::sched_setaffinity),
     {17 | upper_half, 8, path},
     {.change = Change::schedule,
      .schedule = {.number = number_of(Call::sched_setaffinity), .thread = 17, .at = path, .size = 8}}},
    {"a mask of more processors than there are",
     number_of(Call::sched_setaffinity),
     {17, 4096, path},
     {.change = Change::schedule,
      .schedule = {.number = number_of(Call::sched_setaffinity), .thread = 17, .at = path, .size = 128}}},
    {"affinity of nothing", number_of(Call::sched_setaffinity), {17, 8, 0}, {}},
    {"a policy",
     number_of(Call::sched_setscheduler),
     {17, 3, path},
     {.change = Change::schedule,
      .schedule =
          {.number = number_of(Call::sched_setscheduler), .thread = 17, .word = 3, .at = path, .size = 4}}},
    {"a policy's parameters",
     number_of(Call::sched_setparam),
     {17, path},
     {.change = Change::schedule,
      .schedule = {.number = number_of(Call::sched_setparam), .thread = 17, .at = path, .size = 4}}},
    {"attributes, which say their size themselves",
     number_of(Call::sched_setattr),
     {17, path, 0},
     {.change = Change::schedule,
      .schedule = {.number = number_of(Call::sched_setattr), .thread = 17, .at = path}}},
    {"how nice a process is",
     number_of(Call::setpriority),
     {0, 17, 5},
     {.change = Change::schedule,
      .schedule = {.number = number_of(Call::setpriority), .thread = 17, .word = 5}}},
    {"how nice a group is", number_of(Call::setpriority), {1, 17, 5}, {}},
    {"how nice to disks a process is",
     number_of(Call::ioprio_set),
     {1, 17, 3 << 13},
     {.change = Change::schedule,
      .schedule = {.number = number_of(Call::ioprio_set), .thread = 17, .of = 1, .word = 3 << 13}}},
    {"how nice to disks a group is", number_of(Call::ioprio_set), {2, 17, 3 << 13}, {}},
    {"not ours", number_of(Call::unlink), {path}, {}},
};

TEST(WardenRequest, EveryCallAsOneValue) {
  for (const auto& row : rows) {
    if (row.number == no_call) continue;  // newer architectures lack the old forms
    seccomp_data call{.nr = row.number};
    std::copy(row.arguments.begin(), row.arguments.end(), call.args);
    EXPECT_EQ(asked_by(call), row.asked) << row.name;
  }
}

}  // namespace
}  // namespace cloche::jail
