#include "jail/core/keeper.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "jail/core/command.hpp"
#include "jail/core/keeper_exit.hpp"
#include "jail/core/kernel.hpp"
#include "jail/core/lock.hpp"
#include "jail/core/overlay.hpp"
#include "jail/core/plan_transfer.hpp"
#include "jail/core/report.hpp"
#include "jail/core/sandbox_network.hpp"
#include "jail/core/text.hpp"
#include "jail/core/view.hpp"
#include "jail/core/wire.hpp"

namespace cloche::jail {
namespace {

using wire::Plan;
using wire::Step;

Trees trees;

void become_inside_ids(const Plan& plan) {
  must(::setresgid(plan.inside_gid, plan.inside_gid, plan.inside_gid), Step::become_ids);
  must(::setresuid(plan.inside_uid, plan.inside_uid, plan.inside_uid), Step::become_ids);
}

// The trees that the keeper clones meanwhile; in the same descriptor table, so that the numbers are all there
// is to say.
void receive_trees(const Plan& plan, const Keeper& keeper, uint32_t from) {
  static Trees cloned;
  const size_t size = (plan.mounts.size() - from) * sizeof cloned.fd[0];
  if (::read(keeper.word, cloned.fd + from, size) != static_cast<ssize_t>(size))
    ::_exit(125);  // the keeper failed and has said why
  for (uint32_t i = from; i < plan.mounts.size(); ++i)
    if (cloned.fd[i] >= 0) trees.fd[i] = cloned.fd[i];
}

Word receive_word(const Keeper& keeper) {
  Word word;
  if (::read(keeper.word, &word, sizeof word) != static_cast<ssize_t>(sizeof word)) ::_exit(125);
  return word;
}

// What is open by now: the trees, ways into cgroups, the walk through the view. What stays gets low numbers,
// because the command's own limit on descriptors comes next.
int close_all_but(int root, Keeper& keeper) {
  constexpr int kept = wire::first_kept_fd;
  const int high_root = must(::fcntl(root, F_DUPFD_CLOEXEC, kept + 2), Step::seal_root);
  keeper.pidfd = must(::dup2(keeper.pidfd, kept + 1), Step::seal_root);
  root = must(::dup2(high_root, kept), Step::seal_root);
  kernel::close_range(kept + 2, ~0U);
  return root;
}

void take_ids(const Plan& plan) {
  if (!plan.has(wire::privileged)) map_ids(plan, "self");
  // Explicitly too: with an unusual inside id the kernel's view of us is the overflow id until now.
  become_inside_ids(plan);
}

// What the plan mounts from there on.
void take_trees(const Plan& plan, const Keeper& keeper, const Word& word, uint32_t from) {
  if (!plan.has(wire::privileged)) {
    trees.inotify = word.inotify;
    clone_trees(plan, trees, from);
  }
  mount_fresh(plan, trees, from);
  if (plan.has(wire::privileged)) {
    die_with(keeper);  // again: to wait for one that is dead would take for ever
    receive_trees(plan, keeper, from);
  }
}

// A view that is begun, and what of the plan is in it.
struct Begun {
  Plan still = {};
  int root = -1;
  bool left_old_root = false;
  uint32_t mounts() const { return static_cast<uint32_t>(still.mounts.size()); }
};

// An ordinary user clones the call's trees from it, and before Linux 6.15 root makes overlays there. The
// kernel mounts a /proc only beside another.
bool needs_no_old_root(const Plan& still) {
  bool has_proc = false;
  for (const wire::Mount& mount : still.mounts) has_proc = has_proc || mount.kind == wire::MountKind::proc;
  return has_proc && still.has(wire::privileged) && takes_detached_layers();
}

// What needs no call, and then the wait for one.
Begun prepare_view(const Keeper& keeper, const Word& word) {
  Begun begun;
  begun.still = read_still_plan();
  take_ids(begun.still);
  take_trees(begun.still, keeper, word, 0);
  die_with(keeper);  // the ids cleared it, and we may wait for long
  ::umask(0);
  begun.root = begin_view(begun.still, trees);
  begun.left_old_root = needs_no_old_root(begun.still);
  if (begun.left_old_root) leave_old_root(begun.root);
  send({.kind = wire::ReportKind::ready});
  char there_is_a_call = 0;
  if (::read(keeper.word, &there_is_a_call, 1) != 1) ::_exit(125);
  // Before anything is done for the call: without this word the supervisor takes another sandbox for it.
  send({.kind = wire::ReportKind::accepted});
  return begun;
}

[[noreturn]] void run_first(const wire::Start& start, Keeper keeper) {
  die_with(keeper);
  // The command can read the arguments of process 1, and where the host has its cgroups is not its business.
  for (char* group : start.groups) std::memset(group, 0, std::strlen(group));
  offer_to_oom_killer();
  if (!start.has(wire::host_network)) {
    must(static_cast<int>(::syscall(SYS_unshare, CLONE_NEWNET)), Step::namespaces);
    raise_loopback();
  }
  must(::sethostname(wire::sandbox_hostname, std::strlen(wire::sandbox_hostname)), Step::hostname);
  drop_bounding_set();
  Word word = receive_word(keeper);
  join_cgroups(word);
  const bool prepared = start.has(wire::prepared);
  Begun begun;
  if (prepared) {
    begun = prepare_view(keeper, word);
    word = receive_word(keeper);
  }
  const Plan plan = prepared ? read_plan_behind(begun.still) : read_plan();
  // The one that started us and the planner must mean the same network; and listeners are for one of our own
  // alone.
  const bool agreed = plan.has(wire::host_network) == start.has(wire::host_network);
  if (!agreed || (plan.has(wire::host_network) && !plan.listeners.empty())) fail(Step::read_plan, EINVAL);
  if (!plan.listeners.empty()) open_listeners(plan);  // now: these take capabilities
  if (!prepared) {
    take_ids(plan);
    take_trees(plan, keeper, word, 0);
    ::umask(0);
    begun = {plan, begin_view(plan, trees), false};
  } else {
    take_trees(plan, keeper, word, begun.mounts());
  }
  complete_view(plan, trees, begun.root, begun.mounts());
  if (!begun.left_old_root) leave_old_root(begun.root);
  seal_view(plan, begun.root);
  const int root = close_all_but(begun.root, keeper);
  enter_directory(plan);
  ::umask(plan.umask);
  const int terminal = plan.has(wire::terminal) ? make_terminal(plan, "/dev/pts/ptmx") : -1;
  set_limits(plan);
  drop_capabilities();
  // Not dumpable: the command, which has the same id, gets nothing of this process through /proc.
  must(::prctl(PR_SET_DUMPABLE, 0), Step::no_new_privileges);
  forbid_new_privileges();
  die_with(keeper);  // again: each change of credentials cleared it, and this was the last
  if (plan.landlock_abi != 0) restrict_files(plan, terminal);
  prepare_signals();
  filter_calls(plan);
  run_command(plan, terminal, root);
}

struct First {
  pid_t pid;
  int pidfd;
  int word;         // the keeper's end of the pipe that `first` reads
  int mounts = -1;  // its mount namespace, of a privileged keeper
};

First create_first(const wire::Start& start) {
  int pipe[2];
  must(::pipe2(pipe, O_CLOEXEC), Step::namespaces);
  const Keeper self{must(kernel::pidfd_open(kernel::getpid()), Step::namespaces), pipe[0]};
  First first{.pid = -1, .pidfd = -1, .word = pipe[1]};
  clone_args arguments{};
  // All but the network namespace, which takes ten times as long as the others: `first` makes that itself
  // while the keeper goes on.
  arguments.flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS |
                    CLONE_NEWCGROUP | CLONE_PIDFD | CLONE_FILES;
  arguments.pidfd = reinterpret_cast<uint64_t>(&first.pidfd);
  arguments.exit_signal = SIGCHLD;
  if (start.has(wire::born_in_cgroup)) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = wire::first_kept_fd;
  }
  first.pid = must(kernel::clone3(&arguments), Step::namespaces);
  if (first.pid == 0) run_first(start, self);
  return first;
}

// While it has our ids: of other ones the kernel lets only a tracer take it.
int open_mounts(pid_t first) {
  Text<64> path;
  path.add("/proc/").add(static_cast<uint64_t>(first)).add("/ns/mnt");
  return must(::open(path.c_str(), O_RDONLY | O_CLOEXEC), Step::namespaces);
}

void tell(const First& first, const void* what, size_t size) {
  if (size != 0 && ::write(first.word, what, size) != static_cast<ssize_t>(size))
    fail(Step::namespaces, errno);
}

// From here on each of the two has a table of its own, and what the keeper closes stays open in `first`.
void own_table() { must(static_cast<int>(::syscall(SYS_unshare, CLONE_FILES)), Step::namespaces); }

void map_ids_of(const First& first, const Plan& plan) {
  Text<24> who;
  map_ids(plan, who.add(static_cast<uint64_t>(first.pid)).c_str());
}

// What of a view has been built before the call's plan came.
struct Prepared {
  Plan still = {};
  int old_root = -1;
  uint32_t mounts() const { return static_cast<uint32_t>(still.mounts.size()); }
};

Prepared pass_still_plan_on(const First& first, const Word& word) {
  Prepared prepared{.still = read_still_plan()};
  const bool privileged = prepared.still.has(wire::privileged);
  if (privileged) map_ids_of(first, prepared.still);
  tell(first, &word, sizeof word);
  if (!privileged) return prepared;
  clone_trees(prepared.still, trees);
  // Before it has the trees to cover it with.
  if (!takes_detached_layers()) prepared.old_root = find_old_root(first.mounts);
  tell(first, trees.fd, prepared.mounts() * sizeof trees.fd[0]);
  return prepared;
}

// `prepared`: what was built before; without anything the whole view is the call's.
OverlayWatch pass_plan_on(const First& first, Word& word, const Prepared* prepared) {
  const Plan plan = prepared != nullptr ? read_plan_behind(prepared->still) : read_plan();
  const uint32_t from = prepared != nullptr ? prepared->mounts() : 0;
  const OverlayWatch watch = open_watch(plan);
  word.inotify = trees.inotify = watch.inotify;
  if (!plan.has(wire::privileged)) {
    own_table();
    tell(first, &word, sizeof word);
    return watch;
  }
  if (prepared == nullptr) map_ids_of(first, plan);
  tell(first, &word, sizeof word);  // it mounts what needs no tree of the host's while these are cloned
  clone_trees(plan, trees, from, {first.mounts, prepared != nullptr ? prepared->old_root : -1});
  own_table();
  tell(first, trees.fd + from, (plan.mounts.size() - from) * sizeof trees.fd[0]);
  return watch;
}

// What makes the call's id its own, as it was given: in a row, behind the cgroup.
struct Locks {
  int first;
  int count;
};
constexpr int most_locks = wire::plan_fd;  // their place afterwards

// Before we open anything ourselves.
Locks find_locks(const wire::Start& start) {
  Locks locks{wire::first_kept_fd + (start.has(wire::born_in_cgroup) ? 1 : 0), 0};
  while (locks.count < most_locks && ::fcntl(locks.first + locks.count, F_GETFD) >= 0) ++locks.count;
  return locks;
}

// Keeps `first`, the control socket, the locks on its id and the watch on the overlays; the command's input
// and output, and the trees, would hold back their end.
void let_go(const Locks& locks, First& first, OverlayWatch& watch) {
  first.pidfd = must(::dup2(first.pidfd, 0), Step::namespaces);
  for (int i = 0; i < locks.count; ++i) must(::dup2(locks.first + i, 1 + i), Step::drop_groups);
  for (int fd = 1 + locks.count; fd <= wire::plan_fd; ++fd) ::close(fd);
  constexpr int watch_fd = wire::control_fd + 1;
  if (watch.inotify >= 0) watch.inotify = must(::dup2(watch.inotify, watch_fd), Step::watch_overlay);
  kernel::close_range(watch.inotify >= 0 ? watch_fd + 1 : watch_fd, ~0U);
}

// The supervisor's word: a signal for the command, or the end of everything, after which there is no other.
bool obey(const First& first) {
  char byte = 0;
  const ssize_t got = ::recv(wire::control_fd, &byte, 1, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  kernel::pidfd_send_signal(first.pidfd, got == 1 ? byte : SIGKILL);
  return got == 1;
}

// Waits until `first` has ended, and with it every process of its namespace.
[[noreturn]] void keep(const wire::Start& start, const First& first, const OverlayWatch& watch) {
  pollfd events[2] = {{first.pidfd, POLLIN, 0}, {wire::control_fd, POLLIN, 0}};
  while ((events[0].revents & POLLIN) == 0) {
    if (::poll(events, 2, -1) < 0 && errno != EINTR) break;
    if (events[1].revents != 0 && !obey(first)) events[1].fd = -1;
  }
  take_leave(start, reaped(first.pid), watch);
}

}  // namespace

void keep_sandbox(const wire::Start& start) {
  const Locks locks = find_locks(start);
  First first = create_first(start);
  if (start.has(wire::privileged)) {  // the plan is not there yet, and will need them
    first.mounts = open_mounts(first.pid);
    prepare_owner_namespace();
  }
  Word word;
  OverlayWatch watch;
  Prepared prepared;
  const bool is_prepared = start.has(wire::prepared);
  bool goes_on = wait_for_plan(word);
  if (goes_on && is_prepared) {
    prepared = pass_still_plan_on(first, word);
    word = {};
    goes_on = wait_for_plan(word);
    if (goes_on) {
      take_plan_of_call(word);
      tell(first, "c", 1);
    }
  }
  if (goes_on) {
    watch = pass_plan_on(first, word, is_prepared ? &prepared : nullptr);
    let_go(locks, first, watch);
  } else {
    kernel::pidfd_send_signal(first.pidfd, SIGKILL);
  }
  keep(start, first, watch);
}

}  // namespace cloche::jail
