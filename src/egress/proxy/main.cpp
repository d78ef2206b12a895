// cloche-egress: answers for the network of one call. Started by the gateway (egress/gate.hpp) with the
// listeners that were bound inside the call's network namespace; lives in the host's network, where it dials
// what was judged, and has nothing else: no file, no capability, no way to execute anything.
//
// What it reads before it locks itself in is the settings, /etc/hosts, /etc/resolv.conf and the names of the
// interfaces, as bytes; they are understood afterwards.
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <iterator>
#include <span>
#include <string_view>

#include "base/sys/sys.hpp"
#include "egress/proxy/routes.hpp"
#include "egress/proxy/server.hpp"
#include "jail/core/call_numbers.hpp"
#include "jail/core/kernel.hpp"
#include "model/network.hpp"

namespace {

using namespace cloche;

// What the process takes away from itself before it reads a byte of the command or of a host: every
// capability, the id of root, every file, every call that a relay between sockets does not need.
struct Allowed {
  int call;
  const char* reason;
};

// clang-format off
constexpr Allowed allowed_calls[] = {
    {SYS_read, "the settings, and the head of a connection"},
    {SYS_write, "what was held back until it was judged"},
    {SYS_close, "a connection that ended"},
    {SYS_recvfrom, "questions to the resolver's listener, answers from outside, and of the kernel about routes"},
    {SYS_sendto, "the answers, and the questions"},
    {SYS_splice, "bytes from one socket to the other, without a look"},
    {SYS_pipe2, "what they are spliced through"},
    {SYS_fcntl, "how much such a pipe holds; and a spare descriptor"},
    {SYS_accept4, "who came to a listener"},
    {SYS_connect, "the address that was judged"},
    {SYS_shutdown, "the end of one direction"},
    {SYS_getsockname, "which listener it was"},
    {SYS_getsockopt, "whether a connect succeeded, and what has arrived"},
    {SYS_setsockopt, "no delay, how much is buffered, and how it ends"},
    {SYS_epoll_create1, "waiting for all of it"},
    {SYS_epoll_ctl, "waiting for all of it"},
#ifdef SYS_epoll_wait  // by which glibc waits, where it is there
    {SYS_epoll_wait, "waiting for all of it"},
#endif
    {SYS_epoll_pwait, "waiting for all of it"},
    {SYS_clock_gettime, "limits of time"},
    {SYS_getrandom, "the ids of questions"},
    {SYS_mmap, "memory"},
    {SYS_munmap, "memory"},
    {SYS_mremap, "memory"},
    {SYS_brk, "memory"},
    {SYS_restart_syscall, "a wait that was stopped and continued"},
    {SYS_exit_group, "the end"},
};
// clang-format on

constexpr unsigned word(size_t offset) { return static_cast<unsigned>(offset); }

// Linear: a relay makes few calls, and the most frequent could stand first; what counts is that it is read in
// one sitting. Everything else is EPERM; of socket() only TCP and UDP over IP, since the one that asks for
// routes is open already. Of a call without a network it dials no host, and makes no socket at all.
enum class Dials { none, hosts };
bool filter_calls(Dials dials) {
  constexpr size_t most = 2 * std::size(allowed_calls) + 16;
  sock_filter code[most];
  size_t size = 0;
  const auto add = [&](sock_filter step) { code[size++] = step; };
  add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, word(offsetof(seccomp_data, arch))));
  add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, jail::audit_architecture(jail::this_architecture), 1, 0));
  add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, word(offsetof(seccomp_data, nr))));
  for (const auto& row : allowed_calls) {
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(row.call), 0, 1));
    add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  if (dials == Dials::hosts) {
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 7));
    add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, word(offsetof(seccomp_data, args[0]))));
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 1, 0));
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 4));
    add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, word(offsetof(seccomp_data, args[1]))));
    add(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf));
    add(BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, SOCK_DGRAM, 1, 0));
    add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1));  // EPERM
  const sock_fprog program{static_cast<unsigned short>(size), code};
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

struct NewIds {
  unsigned uid = 0;  // 0: it was not started by root, and keeps its id
  unsigned gid = 0;
};

bool become(const NewIds& ids) {
  if (ids.uid == 0) return true;
  return ::setgroups(0, nullptr) == 0 && ::setresgid(ids.gid, ids.gid, ids.gid) == 0 &&
         ::setresuid(ids.uid, ids.uid, ids.uid) == 0;
}

bool drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  return ::syscall(SYS_capset, &header, none) == 0;
}

// A domain without a single rule: no file can be opened, made or executed.
bool forbid_files() {
  const int abi = kernel::landlock_abi();
  if (abi < 1) return false;
  kernel::RulesetAttributes attributes{};
  attributes.files = abi >= 2 ? 0x3fff : 0x1fff;  // every right of the first levels of the interface
  size_t size = sizeof(uint64_t);
  if (abi >= 6) {
    attributes.scope = kernel::landlock::scope_abstract_sockets | kernel::landlock::scope_signals;
    size = sizeof attributes;
  }
  const int ruleset = kernel::landlock_create_ruleset(&attributes, size);
  return ruleset >= 0 && kernel::landlock_restrict_self(ruleset) == 0 && ::close(ruleset) == 0;
}

bool limit_resources() {
  const rlimit none{0, 0};
  const rlimit memory{uint64_t{512} << 20, uint64_t{512} << 20};
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return false;
  files.rlim_cur = files.rlim_max < 16'384 ? files.rlim_max : 16'384;
  files.rlim_max = files.rlim_cur;
  return ::setrlimit(RLIMIT_CORE, &none) == 0 && ::setrlimit(RLIMIT_FSIZE, &none) == 0 &&
         ::setrlimit(RLIMIT_AS, &memory) == 0 && ::setrlimit(RLIMIT_NOFILE, &files) == 0;
}

// False: something did not hold, and nothing may be served.
bool lock_in(const NewIds& ids, Dials dials) {
  return limit_resources() && become(ids) && drop_capabilities() && ::prctl(PR_SET_DUMPABLE, 0) == 0 &&
         ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && forbid_files() && filter_calls(dials);
}

bool read_number(std::string_view text, unsigned& number) {
  const char* end = text.data() + text.size();
  const auto [at, problem] = std::from_chars(text.data(), end, number);
  return problem == std::errc{} && at == end;
}

// `cloche-egress LISTENERS [UID GID]`
bool read_arguments(std::span<char* const> words, unsigned& listeners, NewIds& ids) {
  if (words.size() != 2 && words.size() != 4) return false;
  if (!read_number(words[1], listeners) || listeners < 1 || listeners > most_egress_sockets) return false;
  if (words.size() == 2) return ::geteuid() != 0;
  return read_number(words[2], ids.uid) && read_number(words[3], ids.gid) && ids.uid != 0 && ids.gid != 0;
}

std::string read_or_nothing(const char* path) {
  auto text = sys::read_file(path);
  return text.ok() ? std::move(text).value() : std::string();
}

Result<EgressSettings> read_settings() {
  const OwnedFd fd(egress_settings_fd);
  if (::lseek(fd.get(), 0, SEEK_SET) != 0) return system_error("read the egress settings");
  return read_egress_settings(TRY(sys::read_all(fd.get(), size_t{1} << 20)));
}

}  // namespace

int main(int argc, char** argv) {
  unsigned listeners = 0;
  NewIds ids;
  if (!read_arguments({argv, static_cast<size_t>(argc)}, listeners, ids)) {
    constexpr std::string_view message = "cloche-egress is started by cloche; see cloche run --help\n";
    (void)!::write(2, message.data(), message.size());
    return 2;
  }
  ::setsid();  // nothing typed at the caller's terminal reaches it
  ::signal(SIGPIPE, SIG_IGN);
  auto settings = read_settings();
  const std::string hosts = read_or_nothing("/etc/hosts");
  const std::string resolver = read_or_nothing("/etc/resolv.conf");
  const std::string interfaces = read_or_nothing("/proc/net/if_inet6");
  egress::Routes routes;
  if (!settings.ok() || !routes.works()) return 125;
  const bool named = !settings.value().named.empty() || !settings.value().below.empty();
  if (!lock_in(ids, named ? Dials::hosts : Dials::none)) return 125;
  std::vector<OwnedFd> open;
  for (unsigned i = 0; i < listeners; ++i) open.emplace_back(egress_first_listener_fd + static_cast<int>(i));
  egress::Server server(settings.value(), egress::read_resolver_files(hosts, resolver, interfaces), routes);
  return server.run(std::move(open)) ? 0 : 125;
}
