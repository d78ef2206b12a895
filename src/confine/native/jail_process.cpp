#include "confine/native/jail_process.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "base/sys/sys.hpp"
#include "jail/core/kernel.hpp"
#include "jail/core/wire.hpp"

namespace cloche {
namespace {

constexpr int ending_ms = 1000;     // for a keeper to end by itself
constexpr int acceptance_ms = 100;  // for a prepared jail to take its plan, unless the host is busy
constexpr int longest_acceptance_ms = 5000;

std::vector<int> ways_into(const Cgroup* cgroup) {
  const bool walks = cgroup != nullptr && cgroup->by() == CountedBy::cgroup1;
  return walks ? cgroup->procs_files() : std::vector<int>();
}

std::vector<OwnedFd> descriptors_of(const msghdr& message) {
  std::vector<OwnedFd> fds;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return fds;
  fds.resize((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
  for (size_t i = 0; i < fds.size(); ++i) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(header) + i * sizeof number, sizeof number);
    fds[i] = OwnedFd(number);
  }
  return fds;
}

bool is_there(int fd, int wait_ms) {
  pollfd event{fd, POLLIN, 0};
  return ::poll(&event, 1, wait_ms) > 0;
}

// As by SIGSTOP: the keeper, or the process of the sandbox that it has started.
bool is_stopped(pid_t keeper) {
  const std::string number = std::to_string(keeper);
  const auto children = sys::read_small_file("/proc/" + number + "/task/" + number + "/children");
  const std::string first = children.ok() ? children.value().substr(0, children.value().find(' ')) : "";
  for (const std::string& process : {number, first}) {
    const auto stat = sys::read_small_file("/proc/" + process + "/stat");
    const size_t name_end = stat.ok() ? stat.value().rfind(") ") : std::string::npos;
    const char state = name_end == std::string::npos ? '-' : stat.value()[name_end + 2];
    if (state == 'T' || state == 't') return true;
  }
  return false;
}

}  // namespace

Hearing receive_report(int control, JailReport& into) {
  iovec data{&into.report, sizeof into.report};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int) * wire::max_listeners)];
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  ssize_t got = 0;
  // The other end closed before it had read our own word: the kernel says so once, and then what was said to
  // us.
  do {
    got = ::recvmsg(control, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == ECONNRESET);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Hearing::nothing;
  if (got <= 0) return Hearing::closed;
  if (got != static_cast<ssize_t>(sizeof into.report)) return Hearing::other_format;
  into.fds = descriptors_of(message);
  return Hearing::report;
}

Result<JailProcess> JailProcess::start(const Start& start) {
  JailProcess jail;
  Pipe in = TRY(sys::make_pipe());
  Pipe out = TRY(sys::make_pipe());
  Pipe err = TRY(sys::make_pipe());
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return system_error("make the control socket");
  jail.control = OwnedFd(ends[0]);
  const OwnedFd theirs(ends[1]);
  struct stat other_end {};
  if (::fstat(theirs.get(), &other_end) != 0) return system_error("look at the control socket");
  jail.controls_other_end = other_end.st_ino;
  jail.plan_ = TRY(sys::memory_file());

  if (start.privileged) {
    // The command opens these again by name (/dev/stdin), and they would be root's.
    for (const OwnedFd* end : {&in.read, &out.write, &err.write}) {
      if (::fchown(end->get(), start.outside_uid, start.outside_uid) != 0)
        return system_error("hand a pipe over");
    }
  }
  uint32_t flags = (start.privileged ? wire::privileged : 0U) | (start.boxed ? wire::boxed : 0U) |
                   (start.host_network ? wire::host_network : 0U) | (start.prepared ? wire::prepared : 0U);
  std::vector<int> fds = {in.read.get(), out.write.get(), err.write.get(), jail.plan_.get(), theirs.get()};
  std::vector<std::string> arguments = {"cloche-jail", ""};
  if (start.cgroup != nullptr) {
    if (start.cgroup->by() == CountedBy::cgroup2) {
      flags |= wire::born_in_cgroup;
      fds.push_back(start.cgroup->procs_files().front());
    }
    for (const auto& directory : start.cgroup->directories()) arguments.push_back(directory);
  }
  arguments[1] = std::to_string(flags);
  fds.insert(fds.end(), start.kept.begin(), start.kept.end());
  Starting starting = TRY(begin_spawn(waiting_jail(), start.program, std::move(arguments), fds));
  jail.keeper = std::move(starting.process);
  jail.startup_ = std::move(starting.startup);
  jail.input = std::move(in.write);
  jail.output = std::move(out.read);
  jail.errors = std::move(err.read);
  return jail;
}

JailProcess::~JailProcess() {
  if (!keeper.pidfd) return;
  // Never used, or its supervisor gave up: the end of the socket is the keeper's word to end everything.
  control.reset();
  // One that was stopped does not hear it.
  if (!is_there(keeper.pidfd.get(), never_began_ ? 0 : ending_ms)) {
    kernel::pidfd_send_signal(keeper.pidfd.get(), SIGKILL);
    (void)is_there(keeper.pidfd.get(), ending_ms);
  }
  // One that another process of the user traces is that one's to collect first, and no call waits for it.
  siginfo_t ended{};
  ::waitid(P_PIDFD, static_cast<id_t>(keeper.pidfd.get()), &ended, WEXITED | WNOHANG);
}

Result<void> JailProcess::hand_over(const std::string& plan) {
  TRY(startup_.finish());
  TRY(sys::write_all(plan_.get(), plan));
  return sys::seal(plan_.get());
}

Result<void> JailProcess::prepare(const std::string& still_plan, const Cgroup* cgroup) {
  TRY(hand_over(still_plan));
  TRY(say_plan_is_there(ways_into(cgroup)));
  plan_ = TRY(sys::memory_file());
  prepared_ = true;
  return {};
}

JailProcess::Readiness JailProcess::readiness(int wait_ms) {
  // What comes after `ready` can only be that it has failed, or has ended.
  if (!is_there(control.get(), ready_ ? 0 : wait_ms)) return ready_ ? Readiness::ready : Readiness::not_yet;
  JailReport heard;
  ready_ = !ready_ && receive_report(control.get(), heard) == Hearing::report &&
           heard.report.kind == wire::ReportKind::ready;
  return ready_ ? Readiness::ready : Readiness::broken;
}

Result<void> JailProcess::wait_for_acceptance() {
  bool accepted = false;
  const auto hears_more = [&] {
    JailReport heard;
    const Hearing hearing = receive_report(control.get(), heard);
    if (hearing == Hearing::report) {
      accepted = accepted || heard.report.kind == wire::ReportKind::accepted;
      early.push_back(std::move(heard));
    }
    return hearing == Hearing::report;
  };
  const uint64_t start_ms = sys::monotonic_ms();
  for (uint64_t waited_ms = 0; !accepted && waited_ms < uint64_t{longest_acceptance_ms};
       waited_ms = sys::monotonic_ms() - start_ms) {
    if (waited_ms >= acceptance_ms && is_stopped(keeper.pid)) break;
    if (is_there(control.get(), acceptance_ms) && !hears_more()) break;
  }
  if (accepted) return {};
  kernel::pidfd_send_signal(keeper.pidfd.get(), SIGKILL);
  // A keeper that is dead has ended `first` with it: a word that is not there by now never comes. But it may
  // lie behind what another process of the user has put there.
  bool certain = is_there(keeper.pidfd.get(), longest_acceptance_ms);
  constexpr int most_words = 1000;
  for (int words = 0; words < most_words; ++words) {
    JailReport heard;
    const Hearing hearing = receive_report(control.get(), heard);
    if (hearing == Hearing::nothing) break;
    certain = certain && hearing != Hearing::other_format;
    if (hearing != Hearing::report) continue;
    accepted = accepted || heard.report.kind == wire::ReportKind::accepted;
    early.push_back(std::move(heard));
  }
  if (accepted) return {};  // the supervisor goes on, and hears what became of it
  if (!certain)
    return Error{Cause::internal,
                 "another process has spoken to the prepared sandbox; whether the command began is not known",
                 0, "look at what it would have changed, and run it again"};
  never_began_ = true;
  return Error{Cause::internal, "the prepared sandbox did not take its plan", 0, "run it again"};
}

Result<void> JailProcess::go(const Startable&, const std::string& plan, const Cgroup* cgroup) {
  TRY(hand_over(plan));
  TRY(say_plan_is_there(prepared_ ? std::vector<int>{plan_.get()} : ways_into(cgroup)));
  plan_.reset();
  return prepared_ ? wait_for_acceptance() : Result<void>();
}

Result<void> JailProcess::say_plan_is_there(const std::vector<int>& fds) {
  char word = 'p';
  iovec data{&word, 1};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int) * wire::max_groups)] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = room;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
    std::memcpy(CMSG_DATA(header), fds.data(), sizeof(int) * fds.size());
  }
  // A jail that is gone already has said why, and the supervisor will hear it.
  if (::sendmsg(control.get(), &message, MSG_NOSIGNAL) != 1 && errno != EPIPE)
    return system_error("hand the plan over");
  return {};
}

}  // namespace cloche
