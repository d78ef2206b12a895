// Attacks on other processes: see them, stop them, read them, write into them.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "escape/attack.hpp"
#include "escape/props.hpp"

namespace cloche::escape {
namespace {

int process_number(const Arguments& args) { return atoi(args.at(0).c_str()); }

char state_of(int pid) {
  const std::string stat = slurp("/proc/" + std::to_string(pid) + "/stat");
  const size_t end = stat.rfind(')');
  return end == std::string::npos || end + 2 >= stat.size() ? '?' : stat[end + 2];
}

Report see_process(const Arguments& args) {
  const int pid = process_number(args);
  const std::string line = slurp("/proc/" + args[0] + "/cmdline");
  if (line.find(args.at(1)) != std::string::npos) return escaped("/proc shows the victim");
  if (kill(pid, 0) == 0 && line.empty()) return held("that number is another process");
  return held("the victim is not in sight");
}

Report signal_process(const Arguments& args) {
  // The number may be that of a process of our own in here; only the observer outside can tell, so ask first.
  if (slurp("/proc/" + args.at(0) + "/cmdline").find(args.at(1)) == std::string::npos &&
      kill(process_number(args), 0) == 0) {
    return held("that number is another process");
  }
  if (kill(process_number(args), SIGKILL) == 0) return escaped("killed the victim");
  return held_by_errno("kill");
}

Report signal_by_pidfd(const Arguments& args) {
  const long pidfd = syscall(SYS_pidfd_open, process_number(args), 0);
  if (pidfd < 0) return held_by_errno("pidfd_open");
  if (slurp("/proc/" + args[0] + "/cmdline").find(args.at(1)) == std::string::npos) {
    return held("that number is another process");
  }
  if (syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0) == 0) return escaped("killed the victim");
  return held_by_errno("pidfd_send_signal");
}

// kill(-1) means everybody the kernel lets us. Tried only where that cannot be the host.
Report signal_everybody(const Arguments& args) {
  if (in_host_namespace("pid", args.at(0))) return unable("this would be the host's process namespace");
  const int victim = atoi(args.at(1).c_str());
  const bool seen = victim > 0 && kill(victim, 0) == 0 && state_of(victim) != 'Z';
  if (kill(-1, SIGKILL) != 0 && !seen) return held_by_errno("kill(-1)");
  sleep_ms(100);
  if (seen && (kill(victim, 0) != 0 || state_of(victim) == 'Z'))
    return escaped("kill(-1) took the victim along");
  return held("kill(-1) reached nobody outside");
}

// Stops our whole process group; a child that left the group in time looks whether our parent stopped too.
Report stop_supervisor(const Arguments&) {
  const pid_t supervisor = getppid();
  int ready[2];
  int verdict[2];
  if (pipe(ready) != 0 || pipe(verdict) != 0) return unable_by_errno("pipe");
  const pid_t self = getpid();
  const pid_t observer = fork();
  if (observer < 0) return unable_by_errno("fork");
  if (observer == 0) {
    setpgid(0, 0);
    if (write(ready[1], "r", 1) != 1) _exit(1);
    const double end = seconds_now() + 1;
    while (state_of(self) != 'T' && seconds_now() < end) sleep_ms(5);
    sleep_ms(50);
    const char state = supervisor > 0 ? state_of(supervisor) : '-';
    if (write(verdict[1], &state, 1) != 1) _exit(1);
    kill(self, SIGCONT);
    if (state == 'T') kill(supervisor, SIGCONT);
    _exit(0);
  }
  char byte = 0;
  if (read(ready[0], &byte, 1) != 1) return unable("no observer");
  kill(0, SIGSTOP);
  char state = '-';
  if (read(verdict[0], &state, 1) != 1) return unable("the observer did not answer");
  waitpid(observer, nullptr, 0);
  if (state == 'T') return escaped("kill(0, SIGSTOP) stopped our parent");
  return held(std::string("our parent is in state ") + state);
}

Report trace_process(const Arguments& args) {
  const int pid = process_number(args);
  if (ptrace(PTRACE_ATTACH, pid, nullptr, nullptr) == 0) {
    waitpid(pid, nullptr, __WALL);
    ptrace(PTRACE_DETACH, pid, nullptr, nullptr);
    return escaped("attached to process " + args[0]);
  }
  const int error = errno;
  if (ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0) return escaped("seized process " + args[0]);
  return held_by_errno("ptrace", error);
}

Report read_memory(const Arguments& args) {
  char stolen[64] = {};
  iovec local = {stolen, sizeof stolen};
  iovec remote = {secret_page, sizeof stolen};
  const ssize_t got = process_vm_readv(process_number(args), &local, 1, &remote, 1, 0);
  if (got > 0) return escaped("process_vm_readv got " + printable(stolen));
  return held_by_errno("process_vm_readv");
}

Report write_memory(const Arguments& args) {
  char planted_bytes[] = "tampered";
  iovec local = {planted_bytes, sizeof planted_bytes};
  iovec remote = {secret_page, sizeof planted_bytes};
  if (process_vm_writev(process_number(args), &local, 1, &remote, 1, 0) > 0)
    return escaped("process_vm_writev");
  const int error = errno;
  const int fd = open(("/proc/" + args.at(0) + "/mem").c_str(), O_RDWR);
  if (fd < 0) return held_by_errno("process_vm_writev and /proc/PID/mem", error);
  if (pwrite(fd, planted_bytes, sizeof planted_bytes, reinterpret_cast<off_t>(secret_page)) > 0) {
    return escaped("wrote through /proc/" + args[0] + "/mem");
  }
  return held_by_errno("write /proc/PID/mem");
}

Report read_proc_mem(const Arguments& args) {
  const int fd = open(("/proc/" + args.at(0) + "/mem").c_str(), O_RDONLY);
  if (fd < 0) return held_by_errno("open /proc/PID/mem");
  char stolen[64] = {};
  if (pread(fd, stolen, sizeof stolen, reinterpret_cast<off_t>(secret_page)) > 0) {
    return escaped("/proc/PID/mem gave " + printable(stolen));
  }
  // Not our victim's page, but memory of another process all the same.
  return escaped("opened /proc/" + args[0] + "/mem");
}

Report steal_descriptor(const Arguments& args) {
  const long pidfd = syscall(SYS_pidfd_open, process_number(args), 0);
  if (pidfd < 0) return held_by_errno("pidfd_open");
  const long stolen = syscall(SYS_pidfd_getfd, pidfd, victim_secret_descriptor, 0);
  if (stolen < 0) return held_by_errno("pidfd_getfd");
  char text[64] = {};
  if (pread(static_cast<int>(stolen), text, sizeof text - 1, 0) < 0) return escaped("got a descriptor");
  return escaped("stole a descriptor and read " + printable(text));
}

Report limit_process(const Arguments& args) {
  rlimit limit = {0, 0};
  if (prlimit(process_number(args), RLIMIT_NOFILE, &limit, nullptr) == 0)
    return escaped("set the victim's limits");
  return held_by_errno("prlimit");
}

Report reschedule_process(const Arguments& args) {
  const int pid = process_number(args);
  if (setpriority(PRIO_PROCESS, static_cast<id_t>(pid), 19) == 0)
    return escaped("changed the victim's priority");
  const int error = errno;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  if (sched_setaffinity(pid, sizeof one, &one) == 0) return escaped("pinned the victim to one CPU");
  return held_by_errno("setpriority", error);
}

Report take_real_time(const Arguments&) {
  sched_param parameters{};
  parameters.sched_priority = 1;
  if (sched_setscheduler(0, SCHED_FIFO, &parameters) == 0) return escaped("runs before everybody else");
  const int error = errno;
  if (setpriority(PRIO_PROCESS, 0, -10) == 0) return escaped("took a higher priority");
  return held_by_errno("sched_setscheduler", error);
}

// The one to be killed first when memory runs out is the sandboxed one, and it cannot change that.
Report dodge_oom_killer(const Arguments&) {
  const int fd = open("/proc/self/oom_score_adj", O_WRONLY);
  if (fd < 0) return held_by_errno("open oom_score_adj");
  if (write(fd, "0", 1) == 1) return escaped("lowered our own oom_score_adj");
  return held_by_errno("write oom_score_adj");
}

}  // namespace

Attacks process_attacks() {
  return {
      {"see-process", "no process of the host is visible", see_process},
      {"signal-process", "no process of the host can be signalled", signal_process},
      {"signal-by-pidfd", "no process of the host can be signalled through a pidfd", signal_by_pidfd},
      {"signal-everybody", "kill(-1) stays inside", signal_everybody},
      {"stop-supervisor", "kill(0, SIGSTOP) does not freeze the supervisor", stop_supervisor},
      {"trace-process", "no other process can be traced", trace_process},
      {"read-memory", "process_vm_readv reads no other process", read_memory},
      {"write-memory", "no other process's memory can be written", write_memory},
      {"read-proc-mem", "/proc/PID/mem of another process does not open", read_proc_mem},
      {"steal-descriptor", "pidfd_getfd takes no descriptor from another process", steal_descriptor},
      {"limit-process", "no other process's limits can be changed", limit_process},
      {"reschedule-process", "no other process can be slowed down", reschedule_process},
      {"take-real-time", "the command cannot take priority over the host", take_real_time},
      {"dodge-oom-killer", "the command stays first in line for the OOM killer", dodge_oom_killer},
  };
}

}  // namespace cloche::escape
