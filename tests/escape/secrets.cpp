// Attacks on what the caller knows: the environment, other processes' words, the kernel's log.
#include <fcntl.h>
#include <sys/klog.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "escape/attack.hpp"

extern char** environ;

namespace cloche::escape {
namespace {

bool holds(const std::string& text, const std::string& word) { return text.find(word) != std::string::npos; }

Report search_own_environment(const Arguments& args) {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (holds(*entry, args.at(0))) return escaped("our environment holds " + printable(*entry));
  }
  // What was unset later is still in the memory the kernel put it in.
  if (holds(slurp("/proc/self/environ", 1 << 20), args.at(0))) return escaped("/proc/self/environ holds it");
  return held("not in our environment");
}

// Nearly every sandbox cleans the last step and forgets its own init.
Report search_init_environment(const Arguments& args) {
  const std::string text = slurp("/proc/1/environ", 1 << 20);
  if (holds(text, args.at(0))) return escaped("/proc/1/environ holds it");
  return errno != 0 ? held_by_errno("/proc/1/environ") : held("/proc/1/environ does not hold it");
}

Report search_file_of_every_process(const char* file, const std::string& word) {
  int seen = 0;
  for (const int pid : visible_processes()) {
    if (pid == getpid()) continue;
    const std::string path = "/proc/" + std::to_string(pid) + "/" + file;
    const std::string text = slurp(path, 1 << 20);
    if (!text.empty()) ++seen;
    if (holds(text, word)) return escaped(path + " holds it");
  }
  return held("not in the " + std::string(file) + " of " + std::to_string(seen) + " readable processes");
}

Report search_every_environment(const Arguments& args) {
  return search_file_of_every_process("environ", args.at(0));
}

Report search_every_command_line(const Arguments& args) {
  return search_file_of_every_process("cmdline", args.at(0));
}

// The names of files that are mapped or mounted say where things are; this one looks for a whole path.
Report search_mount_sources(const Arguments& args) {
  for (const char* file : {"/proc/self/mountinfo", "/proc/1/mountinfo", "/proc/self/mounts"}) {
    if (holds(slurp(file, 1 << 20), args.at(0))) return escaped(std::string(file) + " holds it");
  }
  return held("no mount shows it");
}

Report read_kernel_log(const Arguments&) {
  char buffer[4096];
  const int got = klogctl(3 /* read all */, buffer, sizeof buffer);
  if (got >= 0) return escaped("read " + std::to_string(got) + " bytes of the kernel's log");
  const int error = errno;
  for (const char* path : {"/dev/kmsg", "/proc/kmsg", "/proc/kcore"}) {
    const int fd = open(path, O_RDONLY | O_NONBLOCK);
    if (fd >= 0) return escaped(std::string("opened ") + path);
  }
  return held_by_errno("syslog", error);
}

Report watch_host_sockets(const Arguments& args) {
  char wanted[16];
  snprintf(wanted, sizeof wanted, ":%04X ", static_cast<unsigned>(atoi(args.at(0).c_str())));
  for (const char* path : {"/proc/net/tcp", "/proc/self/net/tcp", "/proc/1/net/tcp"}) {
    if (holds(slurp(path, 1 << 20), wanted)) return escaped(std::string(path) + " lists the host's socket");
  }
  return held("the host's sockets are not listed");
}

// A core file carries the memory of a crashed program to wherever core_pattern says, also to a host program.
Report dump_core(const Arguments&) {
  const pid_t child = fork();
  if (child < 0) return unable_by_errno("fork");
  if (child == 0) {
    rlimit limit{};
    getrlimit(RLIMIT_CORE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_CORE, &limit);
    abort();
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status) && WCOREDUMP(status)) return escaped("the kernel dumped a core");
  return held("no core was dumped");
}

}  // namespace

Attacks secret_attacks() {
  return {
      {"search-own-environment", "the caller's environment is not handed down", search_own_environment},
      {"search-init-environment", "the sandbox's own init carries no environment", search_init_environment},
      {"search-every-environment", "no process's environment holds the caller's secrets",
       search_every_environment},
      {"search-every-command-line", "the command lines of the host are not shown", search_every_command_line},
      {"search-mount-sources", "the mount table names nothing that was not granted", search_mount_sources},
      {"read-kernel-log", "the kernel's log and memory are not readable", read_kernel_log},
      {"watch-host-sockets", "the host's sockets are not listed", watch_host_sockets},
      {"dump-core", "a crash leaves no core file", dump_core},
  };
}

}  // namespace cloche::escape
