// cloche-jail started by hand with a plan that Cloche would never write. A system may let an ordinary user
// make user namespaces by this program and no other (share/apparmor/cloche), so it hands no capability in one
// to a program that it executes, whatever the plan says.
#include <fcntl.h>
#include <grp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "everyday/support.hpp"
#include "harness/harness.hpp"
#include "jail/core/wire_encode.hpp"

namespace cloche::test {
namespace {

constexpr uid_t nobody = 65534;

// Only calls that a child may make after fork, because the harness has threads.
[[noreturn]] void become_jail(const char* flags, int plan, int control, int output) {
  if (::geteuid() == 0 && (::setgroups(0, nullptr) != 0 || ::setresgid(nobody, nobody, nobody) != 0 ||
                           ::setresuid(nobody, nobody, nobody) != 0))
    ::_exit(1);
  // Above what they are moved to.
  const int high[] = {::fcntl(plan, F_DUPFD, 20), ::fcntl(control, F_DUPFD, 20),
                      ::fcntl(output, F_DUPFD, 20)};
  ::dup2(high[2], 1);
  ::dup2(high[2], 2);
  ::dup2(high[0], wire::plan_fd);
  ::dup2(high[1], wire::control_fd);
  for (const int fd : high) ::close(fd);
  const char* const words[] = {"cloche-jail", flags, nullptr};
  ::execv(CLOCHE_TEST_BIN_DIR "/cloche-jail", const_cast<char* const*>(words));
  ::_exit(2);
}

// What the jail and what it executes print.
std::string output_of(uint32_t plan_flags) {
  wire::PlanText plan;
  plan.flags = plan_flags;
  plan.inside_uid = plan.outside_uid = ::geteuid() == 0 ? nobody : ::geteuid();
  plan.inside_gid = plan.outside_gid = ::geteuid() == 0 ? nobody : ::getegid();
  plan.programs = {"/bin/sh"};
  plan.argv = {"sh", "-c",
               "echo ran; grep -E '^Cap(Inh|Prm|Eff|Amb)' /proc/self/status; mount -t tmpfs none /mnt && "
               "echo mounted"};
  plan.env = {"PATH=/usr/bin:/bin"};
  const std::string bytes = wire::encode(plan);
  const int memory = ::memfd_create("plan", MFD_CLOEXEC);
  EXPECT_EQ(::write(memory, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  int control[2];
  int output[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control), 0);
  EXPECT_EQ(::pipe2(output, O_CLOEXEC), 0);
  const std::string flags = std::to_string(wire::boxed);
  const pid_t child = ::fork();
  if (child == 0) become_jail(flags.c_str(), memory, control[1], output[1]);
  for (const int fd : {control[1], output[1], memory}) ::close(fd);
  EXPECT_EQ(::send(control[0], "p", 1, MSG_NOSIGNAL), 1);
  std::string printed;
  char buffer[4096];
  for (ssize_t got = 1; got > 0;) {
    got = ::read(output[0], buffer, sizeof buffer);
    if (got > 0) printed.append(buffer, static_cast<size_t>(got));
  }
  ::close(output[0]);
  ::close(control[0]);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  return printed;
}

TEST(HostilePlan, AnOrdinaryUserGetsNoCapabilityOutOfTheJail) {
  int executed = 0;
  for (const uint32_t flags :
       std::initializer_list<uint32_t>{wire::staged, wire::speechless, wire::staged | wire::speechless,
                                       wire::privileged | wire::speechless, wire::staged | wire::groupless,
                                       wire::staged | wire::open, wire::staged | wire::lowered}) {
    const std::string printed = output_of(flags);
    executed += contains(printed, "ran\n") ? 1 : 0;
    EXPECT_FALSE(contains(printed, "mounted")) << flags << " " << printed;
    for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"}) {
      if (!contains(printed, "ran\n")) continue;  // refused
      EXPECT_TRUE(contains(printed, std::string(set) + ":\t0000000000000000\n")) << flags << " " << printed;
    }
  }
  EXPECT_GE(executed, 2) << "nothing was executed, so nothing was tried";
}

}  // namespace
}  // namespace cloche::test
