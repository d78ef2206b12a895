// cloche-jail: locks itself in and executes one command.
//
// Theory of operation. Three processes, one after the other:
//
//   keeper   what the supervisor executed. Creates `first` in new namespaces; takes the plan when the
//            supervisor has it; clones what only root may clone. Then it waits, outside, for `first` to end
//            or for the supervisor to vanish (its end of the control socket closes), and leaves no cgroup
//            behind in either case: it knew their names before they were made. It outlives a supervisor that
//            was killed by just the time that takes.
//   first    process 1 of the sandbox. Does what needs no plan, the network namespace above all, which takes
//            longer than everything else; waits for the keeper's word, builds the view, locks itself in,
//            starts the command and reaps. When the command ends it reports and ends, and the kernel kills
//            whatever is left in its pid namespace. It dies with the keeper (parent death signal), so killing
//            either of them kills everything.
//   command  the program of the plan, under the filter, domain and limits that `first` put on itself.
//
// The supervisor fills and seals the plan on wire::plan_fd and says so with one message on the control
// socket. The keeper's descriptors are `first`'s too until the keeper takes a copy of the table for itself:
// that is how the trees it cloned get there. Reports go to the supervisor over wire::control_fd, which the
// command never has. Every failed step ends in fail(): nothing is executed with a layer missing. There is no
// heap in here: the plan is a mapping, its tables are static.
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "jail/boxes/box_keeper.hpp"
#include "jail/boxes/inner_main.hpp"
#include "jail/command.hpp"
#include "jail/core/keeper_exit.hpp"
#include "jail/core/kernel.hpp"
#include "jail/core/keyring.hpp"
#include "jail/core/plan_transfer.hpp"
#include "jail/core/report.hpp"
#include "jail/core/sandbox_network.hpp"
#include "jail/core/text.hpp"
#include "jail/core/view.hpp"
#include "jail/core/wire.hpp"
#include "jail/lock.hpp"

namespace cloche::jail {
namespace {

using wire::Plan;
using wire::Step;

Trees trees;

void become_inside_ids(const Plan& plan) {
  must(::setresgid(plan.inside_gid, plan.inside_gid, plan.inside_gid), Step::become_ids);
  must(::setresuid(plan.inside_uid, plan.inside_uid, plan.inside_uid), Step::become_ids);
}

// The trees that the keeper cloned; in the same descriptor table, so that the numbers are all there is to
// say.
void receive_trees(const Plan& plan, const Keeper& keeper) {
  const size_t size = plan.mounts.size() * sizeof trees.fd[0];
  if (::read(keeper.word, trees.fd, size) != static_cast<ssize_t>(size))
    ::_exit(125);  // the keeper failed and has said why
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
  Word word;
  if (::read(keeper.word, &word, sizeof word) != static_cast<ssize_t>(sizeof word)) ::_exit(125);
  join_cgroups(word);
  const Plan plan = read_plan();
  // The one that started us and the planner must mean the same network; and doors are for one of our own
  // alone.
  const bool agreed = plan.has(wire::host_network) == start.has(wire::host_network);
  if (!agreed || (plan.has(wire::host_network) && !plan.doors.empty())) fail(Step::read_plan, EINVAL);
  if (!plan.doors.empty()) open_doors(plan);  // now: these take capabilities
  if (plan.has(wire::privileged)) {
    receive_trees(plan, keeper);
    become_inside_ids(plan);
  } else {
    map_ids(plan, "self");
    // Explicitly too: with an unusual inside id the kernel's view of us is the overflow id until now.
    become_inside_ids(plan);
    clone_trees(plan, trees);
  }
  ::umask(0);
  const int root = close_all_but(enter_view(plan, trees), keeper);
  enter_directory(plan);
  ::umask(plan.umask);
  const int terminal = plan.has(wire::terminal) ? make_terminal(plan, "/dev/pts/ptmx") : -1;
  set_limits(plan);
  drop_capabilities();
  // Not dumpable: the command, which has the same id, gets nothing of this process through /proc.
  must(::prctl(PR_SET_DUMPABLE, 0), Step::no_new_privileges);
  forbid_new_privileges();
  die_with(keeper);  // again: each change of credentials cleared it, and this was the last
  restrict_files(plan, terminal);
  prepare_signals();
  filter_calls(plan);
  run_command(plan, terminal, root);
}

struct First {
  pid_t pid;
  int pidfd;
  int word;  // the keeper's end of the pipe that `first` reads
};

First create_first(const wire::Start& start) {
  int pipe[2];
  must(::pipe2(pipe, O_CLOEXEC), Step::namespaces);
  const Keeper self{must(kernel::pidfd_open(kernel::getpid()), Step::namespaces), pipe[0]};
  First first{-1, -1, pipe[1]};
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

void pass_plan_on(const First& first, const Word& word) {
  const Plan plan = read_plan();
  size_t tree_bytes = 0;
  if (plan.has(wire::privileged)) {
    clone_trees(plan, trees);
    Text<24> who;
    map_ids(plan, who.add(static_cast<uint64_t>(first.pid)).c_str());
    tree_bytes = plan.mounts.size() * sizeof trees.fd[0];
  }
  // From here on each of the two has a table of its own, and what the keeper closes stays open in `first`.
  must(static_cast<int>(::syscall(SYS_unshare, CLONE_FILES)), Step::namespaces);
  if (::write(first.word, &word, sizeof word) != static_cast<ssize_t>(sizeof word))
    fail(Step::namespaces, errno);
  if (tree_bytes != 0 && ::write(first.word, trees.fd, tree_bytes) != static_cast<ssize_t>(tree_bytes)) {
    fail(Step::namespaces, errno);
  }
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

// Keeps `first`, the control socket and the locks on its id; the command's input and output, and the trees,
// would hold back their end.
void let_go(const Locks& locks, First& first) {
  first.pidfd = must(::dup2(first.pidfd, 0), Step::namespaces);
  for (int i = 0; i < locks.count; ++i) must(::dup2(locks.first + i, 1 + i), Step::drop_groups);
  for (int fd = 1 + locks.count; fd <= wire::plan_fd; ++fd) ::close(fd);
  kernel::close_range(wire::control_fd + 1, ~0U);
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
[[noreturn]] void keep(const wire::Start& start, const First& first) {
  pollfd events[2] = {{first.pidfd, POLLIN, 0}, {wire::control_fd, POLLIN, 0}};
  while ((events[0].revents & POLLIN) == 0) {
    if (::poll(events, 2, -1) < 0 && errno != EINTR) break;
    if (events[1].revents != 0 && !obey(first)) events[1].fd = -1;
  }
  take_leave(start, reaped(first.pid));
}

}  // namespace
}  // namespace cloche::jail

extern "C" int main(int argc, char** argv) {  // by that name also where no library knows of it
  using namespace cloche;
  if (jail::is_inner(argc, argv)) jail::run_inner(argc, argv);
  wire::Start start;
  if (!wire::read_start(argc, argv, start)) {
    static constexpr char message[] = "cloche-jail is started by cloche; see cloche run --help\n";
    (void)!::write(2, message, sizeof message - 1);
    return 2;
  }
  // A session of its own: nothing typed at the caller's terminal signals the keeper.
  ::setsid();
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignored, nullptr);
  struct sigaction standard {
  };  // where the caller ignores it, the kernel forgets children before we can look
  standard.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &standard, nullptr);
  // In a container the call may be forbidden to us; then it is to the command too, which has our filters.
  const int why = jail::join_keyring();
  if (why != 0 && why != ENOSYS && why != EPERM) jail::fail(wire::Step::session_keyring, why);
  if (start.has(wire::privileged)) jail::must(::setgroups(0, nullptr), wire::Step::drop_groups);
  if (start.has(wire::boxed)) jail::keep_box(start);
  const auto locks = jail::find_locks(start);
  auto first = jail::create_first(start);
  jail::Word word;
  if (jail::wait_for_plan(word)) {
    jail::pass_plan_on(first, word);
    jail::let_go(locks, first);
  } else {
    kernel::pidfd_send_signal(first.pidfd, SIGKILL);
  }
  jail::keep(start, first);
}
