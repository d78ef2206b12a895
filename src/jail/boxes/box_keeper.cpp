#include "jail/boxes/box_keeper.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "jail/boxes/command_within.hpp"
#include "jail/boxes/descendants.hpp"
#include "jail/boxes/inner_main.hpp"
#include "jail/core/command.hpp"
#include "jail/core/keeper_exit.hpp"
#include "jail/core/kernel.hpp"
#include "jail/core/plan_transfer.hpp"
#include "jail/core/report.hpp"
#include "jail/core/view.hpp"

namespace cloche::jail {
namespace {

using wire::Plan;
using wire::Step;

constexpr const char* stage = "/tmp";
// Known to the keeper as well: the two share a table of descriptors until the runner executes.
constexpr int report_fd = 40;
// Lies in that file for the inner jail to take, and is in what it says before there is a command: no other
// process ever had it. Chosen before the runner is made, so that both know it.
uint64_t seal = 0;
bool was_root = false;  // when it was started, whatever the plan says

// A mount namespace of its own, and under an ordinary user a user namespace that allows it.
void leave_the_hosts_mounts(const Plan& plan) {
  const bool root = plan.has(wire::privileged);
  must(static_cast<int>(::syscall(SYS_unshare, root ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER)),
       Step::namespaces);
  if (!root) map_ids(plan, "self");
  // What is mounted from here on stays here; what the host lets go of is let go of here too.
  mount_attr own{};
  own.propagation = MS_SLAVE;
  const int root_fd = must(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), Step::root_mount);
  must(kernel::mount_setattr(root_fd, AT_RECURSIVE, &own), Step::root_mount);
  ::close(root_fd);
}

void prepare_stage(const Plan& plan, int inotify) {
  static Trees trees;
  leave_the_hosts_mounts(plan);
  trees.inotify = inotify;  // the keeper's too: the two share a table of descriptors
  clone_trees(plan, trees);
  mount_fresh(plan, trees);
  fill_stage(plan, trees, stage);
  if (plan.has(wire::groupless)) cover("/sys/fs/cgroup");
  if (!plan.has(wire::speechless)) return;
  const int report =
      must(::open("/tmp/report", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666), Step::write_text);
  must(::fchmod(report, 0666), Step::write_text);  // the box's own ids need not be ours
  if (::write(report, &seal, sizeof seal) != static_cast<ssize_t>(sizeof seal)) fail(Step::write_text, errno);
  must(::dup2(report, report_fd), Step::write_text);
}

void take_outside_ids(const Plan& plan) {
  must(::setresgid(plan.outside_gid, plan.outside_gid, plan.outside_gid), Step::become_ids);
  must(::setresuid(plan.outside_uid, plan.outside_uid, plan.outside_uid), Step::become_ids);
}

// For a box that no descriptor comes out of: it finds its input and output at a terminal of the host's. By
// the call's own id, which has it then.
void take_terminal(const Plan& plan) {
  const int slave = make_terminal(plan, "/dev/ptmx");
  for (int fd = 0; fd < 3; ++fd) must(::dup2(slave, fd), Step::terminal);
  ::close(slave);
}

// gVisor has to be root of some user namespace, and who is not executes it a second time in one of its own
// making: a tenth of all that its start takes. This is the same namespace, made before the first time. For
// root alone: a program that this one executes as root of a namespace has every capability there, and a
// system may let an ordinary user have such namespaces by this program and no other (share/apparmor/cloche).
void become_root_inside(const Plan& plan) {
  must(::prctl(PR_SET_DUMPABLE, 1), Step::become_ids);  // or our files in /proc stay root's
  must(static_cast<int>(::syscall(SYS_unshare, CLONE_NEWUSER | CLONE_NEWNS)), Step::namespaces);
  Plan own_ids = plan;
  own_ids.flags &= ~static_cast<uint32_t>(wire::privileged);
  // What it is called where we are now.
  own_ids.outside_uid = plan.inside_uid;
  own_ids.outside_gid = plan.inside_gid;
  own_ids.inside_uid = 0;
  own_ids.inside_gid = 0;
  map_ids(own_ids, "self");
}

// Nothing of ours goes into the box but stdio and the control socket. The number before it is taken too:
// runtimes that pass descriptors on pass them on without gaps.
void choose_descriptors(const Plan& plan) {
  // Bubblewrap reads its words from there.
  int said = plan.has(wire::staged) ? ::open("/tmp/args", O_RDONLY | O_CLOEXEC) : -1;
  if (said < 0) said = must(::open("/dev/null", O_RDONLY | O_CLOEXEC), Step::start_box);
  must(::dup2(said, wire::plan_fd), Step::start_box);
  kernel::close_on_exec(wire::first_kept_fd, ~0U);  // the report's too
  const int flags = plan.has(wire::speechless) ? FD_CLOEXEC : 0;
  must(::fcntl(wire::control_fd, F_SETFD, flags), Step::start_box);
}

// What the runner has of the keeper: how to hear of its end, and of the plan; and how to say that it has all
// it needs.
struct RunnersKeeper : Keeper {
  int ready;
};

[[noreturn]] void run_runner(const wire::Start& start, const RunnersKeeper& keeper) {
  die_with(keeper);
  for (char* group : start.groups) std::memset(group, 0, std::strlen(group));
  offer_to_oom_killer();
  Word word;
  if (::read(keeper.word, &word, sizeof word) != static_cast<ssize_t>(sizeof word)) ::_exit(125);
  join_cgroups(word);
  const Plan plan = read_plan();
  if (plan.has(wire::staged)) prepare_stage(plan, word.inotify);
  if (plan.has(wire::lowered)) take_outside_ids(plan);
  if (plan.has(wire::terminal)) take_terminal(plan);
  if (plan.has(wire::speechless) && was_root) become_root_inside(plan);
  die_with(keeper);  // again: a change of ids cleared it
  must(::chdir("/"), Step::working_directory);
  ::umask(022);
  // The two share a table until exec; here there is none.
  if (plan.has(wire::unboxed)) must(kernel::own_descriptors(), Step::start_box);
  choose_descriptors(plan);
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  ::sigaction(SIGPIPE, &standard, nullptr);
  if (::write(keeper.ready, "", 1) != 1) fail(Step::start_box, errno);
  if (plan.has(wire::unboxed)) run_inner(plan.argv, plan.env);
  ::execve(plan.programs.front(), const_cast<char* const*>(plan.argv.data()),
           const_cast<char* const*>(plan.env.data()));
  fail(Step::start_box, errno);
}

struct Runner {
  pid_t pid;
  int pidfd;
  int word;   // the keeper's end of the pipe that the runner reads
  int ready;  // and of the one that it writes to
};

Runner create_runner(const wire::Start& start) {
  int word[2];
  int ready[2];
  must(::pipe2(word, O_CLOEXEC), Step::start_box);
  must(::pipe2(ready, O_CLOEXEC), Step::start_box);
  const int pidfd = must(kernel::pidfd_open(kernel::getpid()), Step::start_box);
  const RunnersKeeper self{{pidfd, word[0]}, ready[1]};
  Runner runner{-1, -1, word[1], ready[0]};
  clone_args arguments{};
  arguments.flags = CLONE_PIDFD | CLONE_FILES;
  arguments.pidfd = reinterpret_cast<uint64_t>(&runner.pidfd);
  arguments.exit_signal = SIGCHLD;
  if (start.has(wire::born_in_cgroup)) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = wire::first_kept_fd;
  }
  runner.pid = must(kernel::clone3(&arguments), Step::start_box);
  if (runner.pid == 0) run_runner(start, self);
  return runner;
}

// The command's own input and output would stay open with us. Only when the runner has what it needs: until
// then the two have one table.
void let_stdio_go(const Runner& runner) {
  pollfd events[2] = {{runner.pidfd, POLLIN, 0}, {runner.ready, POLLIN, 0}};
  while (::poll(events, 2, -1) < 0 && errno == EINTR) {
  }
  must(kernel::own_descriptors(), Step::start_box);
  const int nothing = must(::open("/dev/null", O_RDWR | O_CLOEXEC), Step::start_box);
  for (int fd = 0; fd < 3; ++fd) must(::dup2(nothing, fd), Step::start_box);
}

bool supervisor_is_gone() {
  char byte = 0;
  const ssize_t got = ::recv(wire::control_fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

// Signals for the command are the inner jail's to take from the socket; the end of it is for us too. Into a
// speechless box none can be passed on: whichever it was ends the runtime in the one way that it takes
// quietly. A SIGQUIT it would answer with what each of its threads is doing, as if the command had said so.
bool obey(const Runner& runner, bool speechless) {
  if (!speechless) {
    if (!supervisor_is_gone()) return true;
    kernel::pidfd_send_signal(runner.pidfd, SIGKILL);
    return false;
  }
  char byte = 0;
  const ssize_t got = ::recv(wire::control_fd, &byte, 1, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  kernel::pidfd_send_signal(runner.pidfd, got == 1 ? SIGTERM : SIGKILL);
  return got == 1;
}

// The number was not taken: the runtime never came to the jail in its box.
bool was_reached() {
  uint64_t first = 0;
  const ssize_t got = ::pread(report_fd, &first, sizeof first, 0);
  return got != static_cast<ssize_t>(sizeof first) || first != seal;
}

// For the jail in a box that has no socket. Until then whatever is on stderr is the runtime's.
bool said_started = false;
void say_started_when_reached() {
  if (said_started || !was_reached()) return;
  said_started = true;
  send({.kind = wire::ReportKind::started});
}

void wait_for(const Runner& runner, bool speechless) {
  constexpr int between_looks_ms = 10;
  // With a speaking box a byte on the socket may wait for its reader: only the hang-up is ours.
  const auto watched = static_cast<short>(speechless ? POLLIN : POLLRDHUP);
  pollfd events[2] = {{runner.pidfd, POLLIN, 0}, {wire::control_fd, watched, 0}};
  while ((events[0].revents & POLLIN) == 0) {
    if (::poll(events, 2, speechless && !said_started ? between_looks_ms : -1) < 0 && errno != EINTR) break;
    if (events[1].revents != 0 && !obey(runner, speechless)) events[1].fd = -1;
    if (speechless) say_started_when_reached();
  }
}

// What the inner jail said last, and whatever the command wrote there.
bool read_last(wire::Report& report) {
  struct stat file {};
  if (::fstat(report_fd, &file) != 0) return false;
  const auto at = file.st_size - static_cast<off_t>(sizeof report);
  return at >= 0 && ::pread(report_fd, &report, sizeof report, at) == static_cast<ssize_t>(sizeof report);
}

// Whether only the jail can have said it.
bool is_believed(const wire::Report& report, int status) {
  using wire::ReportKind;
  if (report.kind == ReportKind::ended)
    return WIFEXITED(status) && WEXITSTATUS(status) == exit_code_of(report.status);
  return (report.kind == ReportKind::failed || report.kind == ReportKind::not_executed) &&
         report.seal == seal;
}

// What was said in a box that has no socket. `status` is the runtime's.
void pass_report_on(int status) {
  if (!was_reached()) return send({.kind = wire::ReportKind::failed, .step = Step::start_box});
  wire::Report report;
  if (read_last(report) && is_believed(report, status)) send(report);
}

// No process is left by now that could write a report.
[[noreturn]] void conclude(const wire::Start& start, const Runner& runner, bool speechless,
                           const OverlayWatch& watch = {}) {
  const wire::Report gone = reaped(runner.pid);
  end_descendants();
  if (speechless) pass_report_on(gone.status);
  take_leave(start, gone, watch);
}

}  // namespace

void keep_box(const wire::Start& start) {
  was_root = ::geteuid() == 0;
  must(::prctl(PR_SET_CHILD_SUBREAPER, 1), Step::parent_death);
  must(static_cast<int>(::syscall(SYS_getrandom, &seal, sizeof seal, 0)), Step::start_box);
  const Runner runner = create_runner(start);
  Word word;
  if (!wait_for_plan(word)) {
    kernel::pidfd_send_signal(runner.pidfd, SIGKILL);
    conclude(start, runner, false);
  }
  const Plan plan = read_plan();
  const bool speechless = plan.has(wire::speechless);
  const OverlayWatch watch = open_watch(plan);
  word.inotify = watch.inotify;
  if (::write(runner.word, &word, sizeof word) != static_cast<ssize_t>(sizeof word))
    fail(Step::start_box, errno);
  let_stdio_go(runner);
  wait_for(runner, speechless);
  conclude(start, runner, speechless, watch);
}

}  // namespace cloche::jail
