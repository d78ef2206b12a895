// The flat plan that cloche-jail reads from a descriptor, and the reports it sends back.
//
// The plan is written once by the supervisor into a sealed memory file. It is little-endian, every string is
// length-prefixed and ends with a NUL that is not counted, so that the decoder can point into the mapping
// instead of copying: the jail has no heap. A plan that is too long, cut short, has trailing bytes, a NUL
// inside a path or a target that climbs is refused whole.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace cloche::wire {

// Which format this is, from a digest of the files that make it (CMakeLists.txt): a jail that was built from
// others refuses the plan.
extern const uint32_t format;
inline constexpr size_t max_plan_bytes = size_t{16} << 20;
inline constexpr size_t max_path_bytes = 4095;
inline constexpr size_t max_mounts = 512;
inline constexpr size_t max_rules = 512;
inline constexpr size_t max_limits = 16;
inline constexpr size_t max_groups = 8;
inline constexpr size_t max_listeners = 128;
inline constexpr size_t max_programs = 64;
inline constexpr size_t max_words = size_t{1} << 18;  // argv and env together

// Where the jail finds what it was given. 0, 1 and 2 are the command's own stdin, stdout and stderr.
inline constexpr int plan_fd = 3;
inline constexpr int control_fd = 4;
inline constexpr int first_kept_fd = 5;  // a cgroup of version 2, then locks that live as long as the call

// Which file the supervisor judged. It holds that one open, so its number cannot have been given to another.
struct Identity {
  uint64_t device = 0;  // 0: on any, because an overlay has one of its own and keeps the number of the file
  uint64_t inode = 0;   // 0: any file will do
  bool operator==(const Identity&) const = default;
};

enum class MountKind : uint32_t {
  directory,  // made in the view
  link,       // a symbolic link to `source`
  text,       // a file with `content`
  tree,       // a clone of the host's `source`
  tmpfs,      // fresh memory, `size_bytes` large
  proc,       // /proc of the new pid namespace
  pts,        // a fresh instance of pseudo terminals
  queues,     // POSIX message queues of the new ipc namespace
  root,       // a clone of the host's `source` as the root itself; only as the first entry
  overlay,    // the host's `source` with what is written in the call's own `layers` above it
  late_text,  // a pipe where a file will be: what opens it waits, until the supervisor puts the file there
};
inline constexpr uint32_t last_mount_kind = static_cast<uint32_t>(MountKind::late_text);

// Beside the pipe of a late_text: the empty file that the supervisor fills and renames over it.
inline constexpr const char* late_text_name = ".text";

// The directories in `layers`: what the command writes, and what the kernel needs beside it.
inline constexpr const char* upper_name = "u";
inline constexpr const char* work_name = "w";

enum MountFlag : uint32_t {
  read_only = 1U << 0,
  no_exec = 1U << 1,
  devices = 1U << 2,     // without it: nodev. nosuid is on every mount
  recursive = 1U << 3,   // with the host's mounts below it
  owned = 1U << 4,       // run as root: shown as the sandbox's own by an idmapped mount
  existing = 1U << 5,    // the target lies in a tree of the host's: never create it there
  plain_file = 1U << 6,  // the source is not a directory
};
inline constexpr uint32_t all_mount_flags = (1U << 7) - 1;

struct Mount {
  MountKind kind = MountKind::directory;
  uint32_t flags = 0;
  uint32_t mode = 0;
  uint32_t owner_uid = 0;  // of the source on disk; for `owned`
  uint32_t owner_gid = 0;
  uint64_t size_bytes = 0;
  uint64_t files = 0;
  Identity judged = {};          // what `source` must still be
  const char* target = nullptr;  // relative to the new root
  const char* source = nullptr;
  std::span<const char> content = {};
  const char* layers = nullptr;  // of an overlay: the directory with its upper and work directories
  Identity judged_layers = {};
};

// What Landlock lets a program do beneath a path. `looked_at` lets it do nothing, and stands beside another
// rule for the same path: no directory is moved from a tree without it into one that has it.
enum class Access : uint32_t { list, read, run, write, write_run, device, looked_at };
inline constexpr uint32_t last_access = static_cast<uint32_t>(Access::looked_at);

struct Rule {
  Access access = Access::list;
  const char* path = nullptr;  // absolute in the view
  Identity judged = {};        // of a tree that no mount has checked: what `path` must still be
};

struct Limit {
  uint32_t resource = 0;  // RLIMIT_*
  uint64_t value = 0;
};

// A socket of the sandbox's network that is bound before the command starts and given to the supervisor; of
// an address of all zeros: at every local one. IPv4 addresses are mapped into IPv6. A stream without a port
// is not bound: it is connected from outside.
struct Listener {
  uint32_t stream = 0;  // else datagrams
  uint32_t port = 0;
  std::array<uint8_t, 16> address = {};
};

enum PlanFlag : uint32_t {
  privileged = 1U << 0,      // the caller is root: sources are cloned outside, ids are mapped from outside
  terminal = 1U << 1,        // make a pseudo terminal and send its master out
  debugging = 1U << 2,       // the filter that lets ptrace through
  watched_memory = 1U << 4,  // no cgroup counts: the filter that refuses memory which no process need hold
  alone = 1U << 5,           // no namespaces around it: the filter that refuses what they would keep apart
  open = 1U << 9,            // the operator wants nothing to hold
  // Of a plan that starts a box of another program (see box_keeper.hpp):
  staged = 1U << 6,      // the mounts are put into a fresh /tmp of its own mount namespace first
  lowered = 1U << 7,     // becomes the outside ids before it is executed
  speechless = 1U << 8,  // no process in the box has the control socket: reports are in a file
  unboxed = 1U << 10,    // there is no box: its program is the inner jail, which needs no exec to be one
  // The network is the host's own: with `alone` the filter that lets its sockets through. At the start as
  // well, since that is when a network namespace is made.
  host_network = 1U << 12,
  groupless = 1U << 11,        // the host's cgroups are covered: the box refuses to see some kinds of them
  plain_directory = 1U << 13,  // no link leads to the working directory: one that does by now refuses
};
inline constexpr uint32_t all_plan_flags = privileged | terminal | debugging | watched_memory | alone |
                                           staged | open | lowered | speechless | unboxed | groupless |
                                           host_network | plain_directory;

using Words = std::span<const char*>;  // the element after the last is a null pointer

struct Plan {
  uint32_t flags = 0;
  uint32_t inside_uid = 0;
  uint32_t inside_gid = 0;
  uint32_t outside_uid = 0;
  uint32_t outside_gid = 0;
  uint32_t umask = 022;
  uint32_t landlock_abi = 0;  // that files are restricted by, with no right of a later one; 0: by none
  uint32_t rows = 0;          // of the terminal, before the command can look at it
  uint32_t columns = 0;
  const char* directory = "/";
  Identity judged_directory = {};  // what that must still be
  std::span<Mount> mounts;
  std::span<const char> mount_bytes = {};  // all of them, as they were sent
  std::span<Rule> rules;
  std::span<Limit> limits;
  std::span<Listener> listeners;
  Words programs;  // tried in this order
  Words argv;
  Words env;

  bool has(PlanFlag flag) const { return (flags & flag) != 0; }
};

// Room for everything a plan points to. Lives in .bss of the jail, where pages that are not used cost
// nothing: so all of it is zero at first, and has no initializer that would touch it.
struct Storage {
  std::array<Mount, max_mounts> mounts;
  std::array<Rule, max_rules> rules;
  std::array<Limit, max_limits> limits;
  std::array<Listener, max_listeners> listeners;
  std::array<const char*, max_programs + 1> programs;
  std::array<const char*, max_words + 2> words;
};

// ---- how the jail is started: `cloche-jail FLAGS [CGROUP-DIRECTORY...]`, before there is a plan ----

inline constexpr uint32_t born_in_cgroup =
    1U << 3;                                // version 2: first_kept_fd is the directory to be created in
inline constexpr uint32_t boxed = 1U << 6;  // the plan starts a box of another program
// There are two plans, one after the other: the still part of a view, which is built before there is a call,
// and then the call's own, whole, which must begin with it.
inline constexpr uint32_t prepared = 1U << 14;
inline constexpr uint32_t all_start_flags = privileged | born_in_cgroup | boxed | host_network | prepared;
inline constexpr const char* sandbox_hostname = "cloche";

struct Start {
  uint32_t flags = 0;
  std::span<char*> groups = {};  // to be removed at the end, whether or not they were made

  bool has(uint32_t flag) const { return (flags & flag) != 0; }
};

bool read_start(int argc, char** argv, Start& start);

// nullptr when the plan is sound, else what is wrong with it. `plan` is meaningless after a complaint.
const char* decode(std::span<const char> bytes, Storage& storage, Plan& plan);

// Of the flags those that what is built of a still plan depends on.
inline constexpr uint32_t still_flags = privileged | host_network;
// Whether a still plan has nothing of a call's: no layer, and no tree of the operator's.
bool is_still(const Plan& plan);
// Whether what was built for `still` is what `plan` begins with, to the byte, for the same ids.
bool begins_with(const Plan& plan, const Plan& still);

// ---- reports, one message each on control_fd ----
//
// The other way a message is one byte: first that the plan is there, with the ways into cgroups of version 1
// (`tasks`), later signal numbers for the command. A prepared jail is told twice, the second time with the
// call's plan.
// The end of that direction means: end it all.

enum class ReportKind : uint32_t {
  failed,        // a step failed; nothing was executed
  terminal,      // carries the master of the pseudo terminal
  listeners,     // carries the plan's listeners, in its order; `index` is 1 when those of IPv6 are real
  started,       // the command is running; carries the root of its view, for those who watch from outside
  not_executed,  // every step held, and exec of the command failed
  stopped,       // the command was stopped on its terminal, as by Ctrl-Z
  ended,         // the command ended with `status` (as wait gives it)
  gone,          // the first process has ended and with it everything in the sandbox
  released,      // after it: the kernel has let go of `overlays` of the plan's by now
  ready,         // of a prepared jail: the still part of the view is built
  accepted,      // of a prepared jail, before it does anything for a call: it has heard of the plan
  late_text,     // carries the directory of a late_text, writable whatever it is in the view
};

enum class Step : uint32_t {
  read_plan,
  join_cgroup,
  drop_groups,
  session_keyring,
  clone_source,
  check_source,
  map_owner,
  namespaces,
  map_ids,
  become_ids,
  hostname,
  loopback,
  open_listeners,
  root_mount,
  make_target,
  mount_tree,
  mount_overlay,
  watch_overlay,
  mount_tmpfs,
  mount_proc,
  mount_pts,
  mount_queues,
  write_text,
  make_link,
  place_mount,
  pivot,
  leave_old_root,
  seal_root,
  working_directory,
  terminal,
  limits,
  capabilities,
  no_new_privileges,
  parent_death,
  landlock,
  seccomp,
  start_command,
  start_box,
  begin_with_still_view,
  last = begin_with_still_view
};

struct Report {
  ReportKind kind = ReportKind::failed;
  Step step = Step::read_plan;
  int32_t number = 0;     // errno
  uint32_t index = 0;     // which mount, rule or program
  int32_t status = 0;     // wait status
  uint32_t overlays = 0;  // that the kernel has let go of
  uint64_t cpu_us = 0;
  uint64_t max_rss_bytes = 0;
  uint64_t memory_peak_bytes = 0;  // the cgroups' last numbers
  uint64_t memory_kills = 0;
  uint64_t processes_denied = 0;
  uint64_t seal = 0;  // of a report in a file: see box_keeper.hpp
};

const char* name_of(Step step);
// What to do when this step fails with this errno; "" when we have no advice.
const char* hint_for(Step step, int number);

}  // namespace cloche::wire
