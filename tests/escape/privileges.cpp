// Attacks on identity and privilege: become somebody else, get a capability, change the kernel's settings.
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "escape/attack.hpp"

extern "C" int unshare(int flags) noexcept;

namespace cloche::escape {
namespace {

Report become_another_user(const Arguments&) {
  int error = 0;
  for (const unsigned id : {0U, 1U, 1000U, 65534U}) {
    if (id == getuid()) continue;
    if (setresuid(id, id, id) == 0) return escaped("became user " + std::to_string(id));
    error = errno;
    if (setuid(id) == 0) return escaped("became user " + std::to_string(id));
  }
  return held_by_errno("setresuid", error);
}

Report become_another_group(const Arguments&) {
  int error = 0;
  for (const unsigned id : {0U, 1U, 1000U, 65534U}) {
    if (id == getgid()) continue;
    if (setresgid(id, id, id) == 0) return escaped("became group " + std::to_string(id));
    error = errno;
  }
  return held_by_errno("setresgid", error);
}

Report join_groups(const Arguments&) {
  const gid_t groups[] = {0, 4, 6};
  if (setgroups(3, groups) == 0) return escaped("joined the groups of root, adm and disk");
  return held_by_errno("setgroups");
}

// The kernel's own account of us, line by line.
Report hold_capabilities(const Arguments&) {
  const std::string status = slurp("/proc/self/status");
  for (const char* set : {"CapEff:\t", "CapPrm:\t", "CapInh:\t", "CapAmb:\t", "CapBnd:\t"}) {
    const size_t at = status.find(set);
    if (at == std::string::npos) return unable("/proc/self/status has no capabilities");
    const std::string value = status.substr(at + strlen(set), 16);
    if (value != "0000000000000000") return escaped(std::string(set, 6) + " is " + value);
  }
  return held("every set is empty");
}

Report gain_privileges_by_exec(const Arguments&) {
  if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) return held("no_new_privs is set");
  return escaped("no_new_privs is not set");
}

Report use_securebits(const Arguments&) {
  const int bits = prctl(PR_GET_SECUREBITS);
  if (bits < 0) return held_by_errno("prctl");
  const int locked = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED;
  if ((bits & locked) == locked) return held("securebits are locked");
  return escaped("securebits are " + std::to_string(bits));
}

Report raise_limits(const Arguments&) {
  int error = 0;
  for (const auto what : {RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_CORE, RLIMIT_NPROC, RLIMIT_CPU}) {
    rlimit limit{};
    getrlimit(what, &limit);
    if (limit.rlim_max == RLIM_INFINITY) continue;
    limit.rlim_max += 1;
    if (setrlimit(what, &limit) == 0)
      return escaped("raised hard limit " + std::to_string(static_cast<int>(what)));
    error = errno;
  }
  return held_by_errno("setrlimit", error);
}

// A system program that is set-uid root, looked at from outside while it runs.
Report run_system_set_uid_program(const Arguments& args) {
  int input[2];
  if (pipe(input) != 0) return unable_by_errno("pipe");
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(input[0], 0);
    dup2(nowhere, 1);
    dup2(nowhere, 2);
    close(input[1]);
    execl(args.at(0).c_str(), args[0].c_str(), nullptr);
    _exit(1);
  }
  Report result = held("it never had another user id");
  const std::string status_path = "/proc/" + std::to_string(child) + "/status";
  for (int i = 0; i < 60 && result.ending == Ending::held; ++i) {
    sleep_ms(5);
    unsigned real = 0;
    unsigned effective = 0;
    const std::string status = slurp(status_path);
    const size_t at = status.find("Uid:\t");
    if (at == std::string::npos || status.find("State:\tZ") != std::string::npos) break;
    if (sscanf(status.c_str() + at, "Uid:\t%u\t%u", &real, &effective) == 2 && effective != getuid()) {
      result = escaped("it runs as user " + std::to_string(effective));
    }
  }
  kill(child, SIGKILL);
  close(input[1]);
  waitpid(child, nullptr, 0);
  return result;
}

Report make_device(const Arguments&) {
  if (mknod("planted-device", S_IFCHR | 0666, makedev(1, 3)) == 0) return escaped("made a device");
  const int error = errno;
  if (mknod("planted-disk", S_IFBLK | 0666, makedev(7, 0)) == 0) return escaped("made a block device");
  return held_by_errno("mknod", error);
}

// Writes back what is there already: the control does this to the host.
Report write_kernel_setting(const Arguments& args) {
  const std::string value = slurp(args.at(0));
  const int fd = open(args[0].c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return held_by_errno("open " + args[0]);
  if (value.empty()) return escaped("opened " + args[0] + " for writing");
  if (write(fd, value.data(), value.size()) < 0) return held_by_errno("write " + args[0]);
  return escaped("wrote to " + args[0]);
}

Report set_host_name(const Arguments& args) {
  constexpr int new_uts = 0x04000000;
  constexpr int new_user = 0x10000000;
  if (unshare(new_uts) != 0) unshare(new_uts | new_user);
  if (in_host_namespace("uts", args.at(0))) return unable("this would be the host's name");
  if (sethostname("tampered", 8) == 0) return escaped("set the host name");
  return held_by_errno("sethostname");
}

Report set_clock(const Arguments&) {
  timex adjustment{};
  adjustment.modes = ADJ_OFFSET_SINGLESHOT;  // by nothing
  if (adjtimex(&adjustment) >= 0) return escaped("may adjust the clock");
  return held_by_errno("adjtimex");
}

// With a wrong magic number the kernel first asks who we are and only then sees that it is wrong.
Report reboot_machine(const Arguments&) {
  syscall(SYS_reboot, 0xdead, 0xdead, 0, nullptr);
  if (errno == EINVAL) return escaped("reboot would obey");
  return held_by_errno("reboot");
}

Report switch_accounting(const Arguments&) {
  if (syscall(SYS_acct, nullptr) == 0) return escaped("process accounting would obey");
  return held_by_errno("acct");
}

Report switch_swap(const Arguments&) {
  syscall(SYS_swapoff, "/nonexistent");
  if (errno == ENOENT) return escaped("swapoff would obey");
  return held_by_errno("swapoff");
}

// Sleeps so that the observer can look at our ids from the host.
Report show_identity(const Arguments& args) {
  sleep_ms(atoi(args.at(1).c_str()));
  return planted("user " + std::to_string(getuid()) + " inside");
}

}  // namespace

Attacks privilege_attacks() {
  return {
      {"become-another-user", "the user id cannot be changed", become_another_user},
      {"become-another-group", "the group id cannot be changed", become_another_group},
      {"join-groups", "no group can be joined", join_groups},
      {"hold-capabilities", "no capability is left in any set", hold_capabilities},
      {"gain-privileges-by-exec", "no_new_privs is set", gain_privileges_by_exec},
      {"use-securebits", "securebits are locked", use_securebits},
      {"raise-limits", "no hard limit can be raised", raise_limits},
      {"run-system-set-uid-program", "a set-uid system program gives nothing", run_system_set_uid_program},
      {"make-device", "no device can be made", make_device},
      {"write-kernel-setting", "no setting of the kernel can be written", write_kernel_setting},
      {"set-host-name", "the host name cannot be set", set_host_name},
      {"set-clock", "the clock cannot be set", set_clock},
      {"reboot-machine", "the machine cannot be rebooted", reboot_machine},
      {"switch-accounting", "process accounting cannot be switched", switch_accounting},
      {"switch-swap", "swap cannot be switched", switch_swap},
      {"show-identity", "seen from the host, the command is not root", show_identity},
  };
}

}  // namespace cloche::escape
