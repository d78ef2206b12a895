// cloche-probe: the program of the self-proof. Started by Cloche through the same path as any command, it
// tries what must fail and what must work and prints one line a check: its name, "ok" or "BROKEN", and what
// it saw. It decides nothing: the supervisor reads the lines.
//
// Built static and without a heap, like the jail, so that what it finds is the sandbox and not its own
// libraries.
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "jail/core/text.hpp"

namespace {

using Line = cloche::jail::Text<512>;

void say(const char* check, bool ok, const char* detail) {
  Line line;
  line.add(check).add(ok ? " ok " : " BROKEN ").add(detail).add("\n");
  (void)!::write(1, line.c_str(), line.size());
}

void say_errno(const char* check, bool ok, int number) {
  const char* name = strerrorname_np(number);
  say(check, ok, name != nullptr ? name : "-");
}

// The call must fail, and with this errno: another one may mean that something else was in the way.
void refused(const char* check, long result, int expected) {
  const int number = errno;
  say_errno(check, result < 0 && number == expected, result < 0 ? number : 0);
}

// The same for a file that must not open; one that does is not left for the next check to find.
void refused_open(const char* check, const char* path, int flags, int expected) {
  const int fd = ::open(path, flags, 0644);
  refused(check, fd, expected);
  if (fd >= 0) ::close(fd);
}

char status_text[8192];

void read_status() {
  const int fd = ::open("/proc/self/status", O_RDONLY);
  size_t size = 0;
  for (ssize_t got = 1; fd >= 0 && got > 0 && size < sizeof status_text - 1;
       size += static_cast<size_t>(got > 0 ? got : 0)) {
    got = ::read(fd, status_text + size, sizeof status_text - 1 - size);
  }
  if (fd >= 0) ::close(fd);
}

// Reads back one line of /proc/self/status, where the kernel says what it will enforce.
void status_is(const char* check, const char* key, const char* expected) {
  char found[64] = "absent";
  if (const char* at = std::strstr(status_text, key)) {
    at += std::strlen(key);
    while (*at == ' ' || *at == '\t') ++at;
    size_t i = 0;
    while (*at != '\n' && *at != '\0' && i < sizeof found - 1) found[i++] = *at++;
    found[i] = '\0';
  }
  say(check, std::strcmp(found, expected) == 0, found);
}

// What must fail is tried for real: with a capability a mount or a mode would be changed on the host.
bool has_capabilities() {
  const char* at = std::strstr(status_text, "CapEff:");
  if (at == nullptr) return true;
  for (at += std::strlen("CapEff:"); *at != '\n' && *at != '\0'; ++at)
    if (*at != '0' && *at != ' ' && *at != '\t') return true;
  return false;
}

// Printed for the supervisor, which knows its own.
void show_namespaces() {
  for (const char* name : {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"}) {
    cloche::jail::Text<64> path;
    char link[64] = {};
    path.add("/proc/self/ns/").add(name);
    const ssize_t length = ::readlink(path.c_str(), link, sizeof link - 1);
    Line line;
    line.add("namespace-").add(name).add(length > 0 ? " seen " : " BROKEN ").add(link).add("\n");
    (void)!::write(1, line.c_str(), line.size());
  }
}

void check_ids() {
  say("not-root", ::getuid() != 0 && ::geteuid() != 0 && ::getgid() != 0, "-");
  refused("no-setuid", ::setuid(0), EPERM);
  char map[256] = {};
  const int fd = ::open("/proc/self/uid_map", O_RDONLY);
  const ssize_t got = fd >= 0 ? ::read(fd, map, sizeof map - 1) : -1;
  if (fd >= 0) ::close(fd);
  const char* line_end = got > 0 ? std::strchr(map, '\n') : nullptr;
  // One line, and of it the last number, how many there are.
  const bool is_one = line_end != nullptr && line_end - map > 2 && line_end[-1] == '1' && line_end[-2] == ' ';
  say("one-id-mapped", is_one && line_end[1] == '\0', "uid_map");
  status_is("no-capabilities-permitted", "CapPrm:", "0000000000000000");
  status_is("no-capabilities-effective", "CapEff:", "0000000000000000");
  status_is("no-capabilities-bounding", "CapBnd:", "0000000000000000");
  status_is("no-capabilities-ambient", "CapAmb:", "0000000000000000");
  status_is("no-new-privileges", "NoNewPrivs:", "1");
  say("securebits-locked", (::prctl(PR_GET_SECUREBITS) & 0x2b) == 0x2b, "-");
}

// Without a name: where an operator let the command write to /usr, nothing is left there. gVisor's kernel has
// no files without one; there it is taken away again.
int make_file_in_usr() {
  const int nameless = ::open("/usr", O_WRONLY | O_TMPFILE, 0644);
  if (nameless >= 0 || errno != EOPNOTSUPP) return nameless;
  const int named = ::open("/usr/.cloche-proof", O_WRONLY | O_CREAT | O_EXCL, 0644);
  if (named >= 0) ::unlink("/usr/.cloche-proof");
  return named;
}

void check_view() {
  refused("root-is-sealed", ::mkdir("/proof", 0755), EROFS);
  const int in_usr = make_file_in_usr();
  refused("usr-is-sealed", in_usr, EROFS);
  if (in_usr >= 0) ::close(in_usr);
  refused_open("no-shadow", "/etc/shadow", O_RDONLY, ENOENT);
  refused_open("no-sys", "/sys/kernel", O_RDONLY, ENOENT);
  refused_open("proc-is-sealed", "/proc/self/oom_score_adj", O_WRONLY, EROFS);  // its own file, 0644
  struct stat root {};
  struct stat above {};
  ::stat("/", &root);
  ::stat("/..", &above);
  say("nothing-above-root", root.st_ino == above.st_ino && root.st_dev == above.st_dev, "-");
  say("usr-is-readable", ::access("/usr", R_OK | X_OK) == 0, "-");
}

// The file is 0444 on a mount that every user may read: nothing but Landlock stands in front of it. The
// program itself lies beside it and has a rule.
void check_landlock(const char* program, const char* canary) {
  refused_open("landlock-denies", canary, O_RDONLY, EACCES);
  const int own = ::open(program, O_RDONLY);
  say_errno("landlock-allows", own >= 0, errno);
  if (own >= 0) ::close(own);
}

void check_processes() {
  say("second-process", ::getppid() == 1, "-");
  refused_open("first-is-closed", "/proc/1/environ", O_RDONLY, EACCES);
  say("own-session", ::getsid(0) == ::getpid(), "-");
  int open_count = 0;
  int fds = ::open("/proc/self/fd", O_RDONLY | O_DIRECTORY);
  char entries[2048];
  const long got = fds >= 0 ? ::syscall(SYS_getdents64, fds, entries, sizeof entries) : 0;
  for (long at = 0; at < got;) {
    const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
    if (entry->d_name[0] != '.') ++open_count;
    at += entry->d_reclen;
  }
  if (fds >= 0) ::close(fds);
  say("three-descriptors", open_count == 4, "0, 1, 2 and the one that looks");
  rlimit core{};
  ::getrlimit(RLIMIT_CORE, &core);
  say("no-core", core.rlim_max == 1, "-");
  rlimit processes{};
  ::getrlimit(RLIMIT_NPROC, &processes);
  Line line;
  line.add("process-limit seen ").add(processes.rlim_max).add("\n");
  (void)!::write(1, line.c_str(), line.size());
  const pid_t child = ::fork();
  if (child == 0) ::_exit(7);
  int status = 0;
  ::waitpid(child, &status, 0);
  say("fork-works", WIFEXITED(status) && WEXITSTATUS(status) == 7, "-");
}

// What must be refused, tried by a child: a filter around Cloche's own may end the process that makes such a
// call instead of refusing it (systemd's SystemCallArchitectures=native, a runtime's profile for one
// architecture), and that is a refusal too.
template <typename Call>
void refused_in_child(const char* check, int expected, Call call) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(call() < 0 ? errno : 0);
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return say_errno(check, false, errno);
  if (WIFSIGNALED(status)) return say(check, WTERMSIG(status) == SIGSYS, sigabbrev_np(WTERMSIG(status)));
  say_errno(check, WEXITSTATUS(status) == expected, WEXITSTATUS(status));
}

void check_calls() {
  status_is("filter-installed", "Seccomp:", "2");
  refused_in_child("no-unshare", EPERM, [] { return ::unshare(CLONE_NEWUSER); });
  refused_in_child("no-mount", EPERM,
                   [] { return ::syscall(SYS_mount, "none", "/tmp", "tmpfs", 0, nullptr); });
  refused_in_child("no-bpf", EPERM, [] { return ::syscall(SYS_bpf, 0, nullptr, 0); });
  refused_in_child("no-io-uring", EPERM, [] { return ::syscall(SYS_io_uring_setup, 1, nullptr); });
  refused_in_child("no-keyctl", EPERM, [] { return ::syscall(SYS_keyctl, 0, -3, 0); });
  refused_in_child("no-clone3", ENOSYS, [] { return ::syscall(SYS_clone3, nullptr, 0); });
  refused_in_child("no-x32", ENOSYS, [] { return ::syscall(0x40000000 | SYS_getpid); });
  refused_in_child("unknown-call", ENOSYS, [] { return ::syscall(999); });
  // EPERM: where no sockets are there at all.
  refused_in_child("no-vsock", EAFNOSUPPORT, [] {
    const int made = ::socket(40, SOCK_STREAM, 0);
    if (made < 0 && errno == EPERM) errno = EAFNOSUPPORT;
    return made;
  });
  refused_in_child("no-set-uid-bit", EPERM, [] { return ::chmod("/tmp", 04755); });
}

void check_network() {
  sockaddr_in outside{};
  outside.sin_family = AF_INET;
  outside.sin_port = htons(80);
  outside.sin_addr.s_addr =
      htonl(0xc0000201);  // 192.0.2.1, reserved for documents: nothing leaves even if it could
  const int one = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  refused("no-route", ::connect(one, reinterpret_cast<sockaddr*>(&outside), sizeof outside), ENETUNREACH);
  ::close(one);
  sockaddr_in loopback{};
  loopback.sin_family = AF_INET;
  loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int server = ::socket(AF_INET, SOCK_STREAM, 0);
  socklen_t size = sizeof loopback;
  (void)::bind(server, reinterpret_cast<sockaddr*>(&loopback), size);
  ::listen(server, 1);
  ::getsockname(server, reinterpret_cast<sockaddr*>(&loopback), &size);
  const int client = ::socket(AF_INET, SOCK_STREAM, 0);
  say_errno("loopback-works", ::connect(client, reinterpret_cast<sockaddr*>(&loopback), size) == 0, errno);
  ::close(client);
  ::close(server);
  utsname names{};
  ::uname(&names);
  say("own-host-name", std::strcmp(names.nodename, "cloche") == 0, "-");
}

// Held long enough to be counted, by a cgroup or by a watch.
void hold_memory(unsigned milliseconds) {
  constexpr size_t size = 4U << 20;
  void* memory =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  say("memory-held", memory != MAP_FAILED, "4M");
  ::usleep(milliseconds * 1000);
}

// For the doctor, who measures how far a watched memory limit is passed before it is noticed.
[[noreturn]] void take_memory() {
  constexpr size_t step = 1U << 20;
  while (true) {
    auto* memory =
        static_cast<char*>(::mmap(nullptr, step, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (memory == MAP_FAILED) ::_exit(1);
    for (size_t at = 0; at < step; at += 4096) memory[at] = 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--take-memory") == 0) take_memory();
  read_status();
  if (has_capabilities()) {
    status_is("no-capabilities-effective", "CapEff:", "0000000000000000");
    return 1;
  }
  show_namespaces();
  check_ids();
  check_view();
  check_landlock(argv[0], argc > 2 ? argv[2] : "/.cloche/canary");
  check_processes();
  check_calls();
  check_network();
  hold_memory(argc > 1 ? static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10)) : 25);
  say("finished", true, "-");
  return 0;
}
