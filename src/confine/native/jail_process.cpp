#include "confine/native/jail_process.hpp"

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "base/sys/sys.hpp"
#include "jail/core/wire.hpp"

namespace cloche {
namespace {

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

}  // namespace

std::optional<HeardReport> hear_report(int control) {
  wire::Report report;
  iovec data{&report, sizeof report};
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
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  if (got != static_cast<ssize_t>(sizeof report)) return HeardReport{.is_of_another_build = got > 0};
  return HeardReport{.report = report, .fds = descriptors_of(message)};
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
                   (start.host_network ? wire::host_network : 0U);
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
  // One that was stopped from outside would not hear it.
  (void)::syscall(SYS_pidfd_send_signal, keeper.pidfd.get(), SIGCONT, nullptr, 0);
  siginfo_t ended{};
  ::waitid(P_PIDFD, static_cast<id_t>(keeper.pidfd.get()), &ended, WEXITED);
}

Result<void> JailProcess::go(const Startable&, const std::string& plan, const Cgroup* cgroup) {
  TRY(startup_.finish());
  TRY(sys::write_all(plan_.get(), plan));
  TRY(sys::seal(plan_.get()));
  plan_.reset();
  const auto procs_files =
      cgroup != nullptr && cgroup->by() == CountedBy::cgroup1 ? cgroup->procs_files() : std::vector<int>();
  char word = 'p';
  iovec data{&word, 1};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int) * wire::max_groups)] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (!procs_files.empty()) {
    message.msg_control = room;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * procs_files.size());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * procs_files.size());
    std::memcpy(CMSG_DATA(header), procs_files.data(), sizeof(int) * procs_files.size());
  }
  // A jail that is gone already has said why, and the supervisor will hear it.
  if (::sendmsg(control.get(), &message, MSG_NOSIGNAL) != 1 && errno != EPIPE)
    return system_error("hand the plan over");
  return {};
}

}  // namespace cloche
