// Starts cloche-jail with a plan like the default's, and prints what the command printed and how it ended:
// for a machine in which there is no cloche. `sandbox PROGRAM ARG...`
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "jail/core/wire_encode.hpp"

namespace {

using namespace cloche;

constexpr uint32_t outside_id = 2'000'000'000;

wire::MountText tree(const char* target, const char* source, uint32_t flags) {
  struct stat seen {};
  if (::stat(source, &seen) != 0) std::perror(source);
  return {.kind = wire::MountKind::tree,
          .flags = flags,
          .judged = {seen.st_dev, seen.st_ino},
          .target = target,
          .source = source};
}

wire::PlanText plan_for(bool root, int argc, char** argv) {
  wire::PlanText plan;
  plan.flags = (root ? wire::privileged : 0U) | wire::watched_memory;
  plan.inside_uid = root ? 1000 : ::geteuid();
  plan.inside_gid = root ? 1000 : ::getegid();
  plan.outside_uid = root ? outside_id : ::geteuid();
  plan.outside_gid = root ? outside_id : ::getegid();
  plan.landlock_abi = 2;
  plan.directory = "/tmp";
  using wire::MountKind;
  plan.mounts = {
      tree("usr", "/usr", wire::read_only | wire::recursive),
      {.kind = MountKind::link, .target = "bin", .source = "usr/bin"},
      {.kind = MountKind::proc, .flags = wire::read_only | wire::no_exec, .target = "proc"},
      {.kind = MountKind::tmpfs, .mode = 01777, .size_bytes = 64U << 20, .files = 1000, .target = "tmp"},
      tree("dev/null", "/dev/null", wire::no_exec | wire::devices | wire::plain_file),
      {.kind = MountKind::pts, .flags = wire::no_exec | wire::devices, .target = "dev/pts"},
      {.kind = MountKind::queues, .flags = wire::no_exec, .target = "dev/mqueue"},
      {.kind = MountKind::text,
       .flags = wire::read_only | wire::no_exec,
       .mode = 0644,
       .target = "etc/passwd",
       .content = "u:x:1000:1000::/tmp:/bin/sh\n"},
      // Which every user may read, and for which there is no rule.
      {.kind = MountKind::text,
       .flags = wire::read_only | wire::no_exec,
       .mode = 0444,
       .target = ".cloche/canary",
       .content = "x"},
      tree(".cloche/probe", "/usr/bin/cloche-probe", wire::read_only | wire::plain_file)};
  using wire::Access;
  plan.rules = {{Access::list, "/"},
                {Access::read, "/etc"},
                {Access::device, "/dev"},
                {Access::run, "/usr"},
                {Access::read, "/proc"},
                {Access::write_run, "/tmp"},
                {Access::run, "/.cloche/probe"}};
  plan.limits = {{RLIMIT_CORE, 1}, {RLIMIT_NOFILE, 4096}, {RLIMIT_NPROC, 512}};
  plan.programs = {argv[1]};
  plan.argv.assign(argv + 1, argv + argc);
  plan.env = {"PATH=/usr/bin:/bin"};
  return plan;
}

// In the child: the descriptors where the jail looks for them.
[[noreturn]] void become_jail(bool root, int plan, int control, int input, int output) {
  const int high[] = {::fcntl(input, F_DUPFD, 20), ::fcntl(output, F_DUPFD, 20), ::fcntl(plan, F_DUPFD, 20),
                      ::fcntl(control, F_DUPFD, 20)};
  ::dup2(high[0], 0);
  ::dup2(high[1], 1);
  ::dup2(high[1], 2);
  ::dup2(high[2], wire::plan_fd);
  ::dup2(high[3], wire::control_fd);
  for (const int fd : high) ::close(fd);
  const std::string flags = std::to_string(root ? wire::privileged : 0U);
  ::execl("/usr/bin/cloche-jail", "cloche-jail", flags.c_str(), nullptr);
  ::_exit(2);
}

void pass_on(int from) {
  char buffer[4096];
  for (ssize_t got = 1; got > 0;) {
    got = ::read(from, buffer, sizeof buffer);
    if (got > 0) (void)!::write(1, buffer, static_cast<size_t>(got));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const bool root = ::geteuid() == 0;
  const std::string bytes = wire::encode(plan_for(root, argc, argv));
  const int plan = ::memfd_create("plan", MFD_CLOEXEC);
  int control[2];
  int input[2];
  int output[2];
  if (plan < 0 || ::write(plan, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()) ||
      ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0 ||
      ::pipe2(input, O_CLOEXEC) != 0 || ::pipe2(output, O_CLOEXEC) != 0)
    return 125;
  for (const int end : {input[0], output[1]}) {
    if (root && ::fchown(end, outside_id, outside_id) != 0) return 125;
  }
  const pid_t child = ::fork();
  if (child == 0) become_jail(root, plan, control[1], input[0], output[1]);
  for (const int fd : {plan, control[1], input[0], input[1], output[1]}) ::close(fd);
  (void)!::send(control[0], "p", 1, MSG_NOSIGNAL);
  pass_on(output[0]);
  int code = 125;
  wire::Report report;
  while (::recv(control[0], &report, sizeof report, 0) > 0) {
    if (report.kind == wire::ReportKind::failed)
      std::printf("failed: could not %s: errno %d\n", wire::name_of(report.step), report.number);
    if (report.kind == wire::ReportKind::ended && WIFEXITED(report.status)) code = WEXITSTATUS(report.status);
  }
  ::close(control[0]);
  ::waitpid(child, nullptr, 0);
  std::printf("exit code %d\n", code);
  return code;
}
