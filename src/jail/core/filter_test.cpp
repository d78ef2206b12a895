// The compiled filters against filters that libseccomp makes of the same policy, said again by hand: every
// call number, other architectures, and every argument that is looked at. Both run in a small interpreter of
// our own.
#include "jail/core/filter.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/btrfs.h>
#include <linux/falloc.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <linux/fsverity.h>
#include <linux/memfd.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "jail/boxes/warden_request.hpp"

namespace cloche::jail {
namespace {

// As linux/falloc.h has them, in numbers: FS_IOC_RESVSP, FS_IOC_RESVSP64, FS_IOC_ZERO_RANGE.
constexpr uint32_t space_requests[] = {0x40305828, 0x4030582a, 0x40305839};

// Of these kinds a file system is asked, and the owner of a file may ask by any descriptor of it.
constexpr uint64_t file_system_kinds[] = {'f', 'v', 'X', BTRFS_IOCTL_MAGIC, 0xf5, 'r'};
// The others of these kinds; the last is FAT_IOCTL_GET_ATTRIBUTES.
constexpr uint32_t harmless_requests[] = {FS_IOC_GETFLAGS,   _IOR('f', 3, long), FS_IOC_FIEMAP,
                                          FS_IOC_GETVERSION, FS_IOC_FSGETXATTR,  FICLONE,
                                          FICLONERANGE,      FIDEDUPERANGE,      _IOR('r', 0x10, uint32_t)};

// What must be among the refused, whatever the kinds are called. A program of 64 bits may well say a number
// of 32: some file systems took those too.
constexpr uint32_t owners_requests[] = {FS_IOC_SETFLAGS,
                                        FS_IOC32_SETFLAGS,
                                        FS_IOC_FSSETXATTR,
                                        FS_IOC_SETVERSION,
                                        FS_IOC32_SETVERSION,
                                        _IOW('f', 4, long) /* EXT4_IOC_SETVERSION */,
                                        _IOW('f', 4, int),
                                        _IO('f', 9) /* EXT4_IOC_MIGRATE */,
                                        _IO('f', 12) /* EXT4_IOC_ALLOC_DA_BLKS */,
                                        FS_IOC_SET_ENCRYPTION_POLICY,
                                        FS_IOC_ADD_ENCRYPTION_KEY,
                                        FS_IOC_REMOVE_ENCRYPTION_KEY,
                                        FS_IOC_ENABLE_VERITY,
                                        BTRFS_IOC_SNAP_CREATE,
                                        BTRFS_IOC_SUBVOL_CREATE,
                                        BTRFS_IOC_SNAP_DESTROY,
                                        BTRFS_IOC_SNAP_CREATE_V2,
                                        BTRFS_IOC_SUBVOL_CREATE_V2,
                                        BTRFS_IOC_SNAP_DESTROY_V2,
                                        BTRFS_IOC_SUBVOL_SETFLAGS,
                                        BTRFS_IOC_SET_RECEIVED_SUBVOL,
                                        _IOW('r', 0x11, uint32_t) /* FAT_IOCTL_SET_ATTRIBUTES */,
                                        _IO(0xf5, 1) /* F2FS_IOC_START_ATOMIC_WRITE */};

using Program = std::vector<sock_filter>;
using Arguments = std::array<uint64_t, 6>;

seccomp_data call(uint32_t number, const Arguments& arguments = {}, uint32_t arch = AUDIT_ARCH_X86_64) {
  seccomp_data data{.nr = static_cast<int>(number), .arch = arch, .instruction_pointer = 0x1234};
  std::copy(arguments.begin(), arguments.end(), data.args);
  return data;
}

// The part of classic BPF that the kernel accepts for seccomp. Nothing for a program that is not well-formed.
std::optional<uint32_t> interpret(std::span<const sock_filter> program, const seccomp_data& data) {
  uint32_t a = 0;
  for (size_t pc = 0; pc < program.size(); ++pc) {
    const sock_filter& at = program[pc];
    const auto jump = [&](bool condition) { pc += condition ? at.jt : at.jf; };
    switch (at.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        if (at.k % 4 != 0 || at.k + 4 > sizeof data) return std::nullopt;
        std::memcpy(&a, reinterpret_cast<const char*>(&data) + at.k, sizeof a);
        break;
      case BPF_ALU | BPF_AND | BPF_K: a &= at.k; break;
      case BPF_JMP | BPF_JA: pc += at.k; break;
      case BPF_JMP | BPF_JEQ | BPF_K: jump(a == at.k); break;
      case BPF_JMP | BPF_JGT | BPF_K: jump(a > at.k); break;
      case BPF_JMP | BPF_JGE | BPF_K: jump(a >= at.k); break;
      case BPF_JMP | BPF_JSET | BPF_K: jump((a & at.k) != 0); break;
      case BPF_RET | BPF_K: return at.k;
      default: return std::nullopt;
    }
  }
  return std::nullopt;
}

constexpr uint32_t allow = SECCOMP_RET_ALLOW;
constexpr uint32_t eperm = SECCOMP_RET_ERRNO | EPERM;
constexpr uint32_t enosys = SECCOMP_RET_ERRNO | ENOSYS;
constexpr uint32_t ask = SECCOMP_RET_USER_NOTIF;
constexpr uint32_t kill_process = SECCOMP_RET_KILL_PROCESS;
constexpr uint64_t low_word = 0xffffffff;  // an int to the kernel: the upper half makes no difference
constexpr int last_number = 600;
constexpr int last_of_libseccomp = 450;  // of Debian 12; later numbers are the same on every architecture

struct Variant {
  const char* name;
  const Filter& filter;
  Tracing tracing;
  Memory memory;
  Around around = Around::namespaces;
  Architecture architecture = Architecture::x86_64;
  bool asks_about_signals = false;
};
const Filter asking_alone_filter = asking_about_signals(alone_filter);
const Filter asking_networked_filter = asking_about_signals(watched_networked_debugging_filter);
const Variant variants[] = {
    {"command", command_filter, Tracing::refused, Memory::counted},
    {"debugging", debugging_filter, Tracing::allowed, Memory::counted},
    {"watched command", watched_command_filter, Tracing::refused, Memory::watched},
    {"watched debugging", watched_debugging_filter, Tracing::allowed, Memory::watched},
    {"alone", alone_filter, Tracing::refused, Memory::counted, Around::host},
    {"alone debugging", alone_debugging_filter, Tracing::allowed, Memory::counted, Around::host},
    {"watched alone", watched_alone_filter, Tracing::refused, Memory::watched, Around::host},
    {"watched alone debugging", watched_alone_debugging_filter, Tracing::allowed, Memory::watched,
     Around::host},
    {"networked", networked_filter, Tracing::refused, Memory::counted, Around::host_with_network},
    {"networked debugging", networked_debugging_filter, Tracing::allowed, Memory::counted,
     Around::host_with_network},
    {"watched networked", watched_networked_filter, Tracing::refused, Memory::watched,
     Around::host_with_network},
    {"watched networked debugging", watched_networked_debugging_filter, Tracing::allowed, Memory::watched,
     Around::host_with_network},
    {"asking alone", asking_alone_filter, Tracing::refused, Memory::counted, Around::host,
     Architecture::x86_64, true},
    {"asking watched networked debugging", asking_networked_filter, Tracing::allowed, Memory::watched,
     Around::host_with_network, Architecture::x86_64, true},
};

// The same for a processor that is not this one: what is tested is the program, not a kernel.
template <Tracing tracing, Memory memory, Around around>
constexpr Filter for_aarch64 = compile_filter(tracing, memory, around, Architecture::aarch64);
template <Tracing tracing, Memory memory, Around around>
const Variant aarch64 = {
    nullptr, for_aarch64<tracing, memory, around>, tracing, memory, around, Architecture::aarch64};
template <Around around>
const std::vector<Variant> on_aarch64 = {
    aarch64<Tracing::refused, Memory::counted, around>, aarch64<Tracing::allowed, Memory::counted, around>,
    aarch64<Tracing::refused, Memory::watched, around>, aarch64<Tracing::allowed, Memory::watched, around>};
const std::vector<Variant> asking_on_aarch64 = [] {
  static const Filter alone = asking_about_signals(
      for_aarch64<Tracing::refused, Memory::counted, Around::host>, Architecture::aarch64);
  static const Filter networked = asking_about_signals(
      for_aarch64<Tracing::allowed, Memory::watched, Around::host_with_network>, Architecture::aarch64);
  return std::vector<Variant>{
      {nullptr, alone, Tracing::refused, Memory::counted, Around::host, Architecture::aarch64, true},
      {nullptr, networked, Tracing::allowed, Memory::watched, Around::host_with_network,
       Architecture::aarch64, true}};
}();
constexpr Filter aarch64_truncation_filter = compile_truncation_filter(Architecture::aarch64);
constexpr Filter aarch64_device_nodes_filter = compile_device_nodes_filter(Architecture::aarch64);
constexpr Filter aarch64_owned_signals_filter = compile_owned_signals_filter(Architecture::aarch64);
constexpr Filter aarch64_network_sockets_filter = compile_network_sockets_filter(Architecture::aarch64);

std::vector<Variant> variants_of_every_architecture() {
  std::vector<Variant> all(std::begin(variants), std::end(variants));
  for (const auto& some : {on_aarch64<Around::namespaces>, on_aarch64<Around::host>,
                           on_aarch64<Around::host_with_network>, asking_on_aarch64})
    for (const Variant& one : some) all.push_back(one);
  for (size_t i = std::size(variants); i < all.size(); ++i) all[i].name = all[i - std::size(variants)].name;
  return all;
}

// The number that the other architecture has for a call of this one; nothing: it has no such call.
std::optional<uint32_t> number_on(Architecture architecture, int number) {
  if (architecture == Architecture::x86_64 || number > last_of_libseccomp)
    return static_cast<uint32_t>(number);
  const std::unique_ptr<char, void (*)(void*)> name(
      seccomp_syscall_resolve_num_arch(SCMP_ARCH_X86_64, number), std::free);
  const int theirs = name == nullptr ? -1 : seccomp_syscall_resolve_name_arch(SCMP_ARCH_AARCH64, name.get());
  if (theirs < 0) return std::nullopt;
  return static_cast<uint32_t>(theirs);
}

std::span<const sock_filter> code_of(const Filter& filter) {
  return std::span(filter.code).first(filter.size);
}

// Of all that is installed: the kernel takes the strictest.
std::optional<uint32_t> answer_of(const Variant& variant, const seccomp_data& data) {
  const auto answer = interpret(code_of(variant.filter), data);
  const bool second = variant.around == Around::host_with_network && answer == SECCOMP_RET_ALLOW;
  const bool is_native = variant.architecture == Architecture::x86_64;
  const Filter& sockets = is_native ? network_sockets_filter : aarch64_network_sockets_filter;
  return second ? interpret(code_of(sockets), data) : answer;
}

// A socket that is refused is told in three ways; libseccomp cannot say "none of these families".
std::optional<uint32_t> as_refusal(int number, std::optional<uint32_t> answer) {
  const bool is_no_socket =
      answer == (SECCOMP_RET_ERRNO | EAFNOSUPPORT) || answer == (SECCOMP_RET_ERRNO | EPROTONOSUPPORT);
  return number == SYS_socket && is_no_socket ? eperm : answer;
}

// The policy as rules of libseccomp: refused by default, what is not a call ENOSYS, the rest allowed.
// They are said in the numbers of this architecture; for another one libseccomp translates them by its own
// tables.
class Oracle {
 public:
  Oracle(const Variant& variant, uint32_t bad_arch)
      : context_(seccomp_init(SCMP_ACT_ERRNO(EPERM)), seccomp_release), architecture_(variant.architecture) {
    if (architecture_ == Architecture::aarch64) {
      must(seccomp_arch_add(context_.get(), SCMP_ARCH_AARCH64));
      must(seccomp_arch_remove(context_.get(), SCMP_ARCH_X86_64));
    }
    must(seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, bad_arch));
    must(seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_OPTIMIZE,
                          2));  // a tree: the interpreter is slow enough
    add_numbers(variant);
    add_process_arguments();
    add_requests(variant.around);
    if (variant.around != Around::host) add_network_sockets();
    if (is_host(variant.around)) {
      add_pair_arguments();
    } else {
      add_named_sockets();
    }
    add_modes();
    if (variant.asks_about_signals) add_signals();
    if (is_host(variant.around)) {
      add_what_no_view_keeps_apart();
    } else {
      add_new_modes(SCMP_ACT_ALLOW);
    }
    if (variant.memory == Memory::counted) {
      permit(SYS_memfd_create,
             {SCMP_A1(SCMP_CMP_MASKED_EQ, MFD_HUGETLB | 0x10U /* MFD_EXEC */ | 8U, 8U /* NOEXEC_SEAL */)});
    }
  }

  Program exported() const {
    const int fd = ::memfd_create("oracle", MFD_CLOEXEC);
    must(seccomp_export_bpf(context_.get(), fd));
    Program program(static_cast<size_t>(::lseek(fd, 0, SEEK_END)) / sizeof(sock_filter));
    const size_t bytes = program.size() * sizeof(sock_filter);
    EXPECT_EQ(::pread(fd, program.data(), bytes, 0), static_cast<ssize_t>(bytes));
    ::close(fd);
    return program;
  }

 private:
  static void must(int result) { ASSERT_EQ(result, 0) << std::strerror(-result); }

  void permit(int number, std::vector<scmp_arg_cmp> conditions) { rule(SCMP_ACT_ALLOW, number, conditions); }
  void rule(uint32_t action, int number, const std::vector<scmp_arg_cmp>& conditions) {
    if (architecture_ != Architecture::x86_64 && !number_on(architecture_, number)) return;
    if (architecture_ != Architecture::x86_64 && number > last_of_libseccomp) return;
    must(seccomp_rule_add_array(context_.get(), action, number, static_cast<unsigned>(conditions.size()),
                                conditions.data()));
  }

  static bool is_kept(Action action) {
    return action == Action::kept_memory || action == Action::kept_segment;
  }

  // The plain answers come from the table; what it says of each call is checked in syscalls_test.cpp.
  void add_numbers(const Variant& variant) {
    std::array<Action, last_number + 1> actions{};
    for (const auto& group : groups) {
      for (size_t i = 0; i < group.count; ++i) {
        const int number = number_of(group.calls[i]);
        if (number != no_call) actions[static_cast<size_t>(number)] = group.action;
      }
    }
    for (int number = 0; number <= last_number; ++number) {
      const Action action = actions[static_cast<size_t>(number)];
      if (action == Action::absent) rule(SCMP_ACT_ERRNO(ENOSYS), number, {});
      const bool allowed =
          action == Action::allow || (action == Action::tracing && variant.tracing == Tracing::allowed) ||
          (action >= Action::host_wide && variant.around == Around::namespaces) ||
          (action == Action::networked && variant.around != Around::host) ||
          (action == Action::signal && !variant.asks_about_signals) ||
          (is_kept(action) && variant.memory == Memory::counted && variant.around == Around::namespaces);
      if (allowed) permit(number, {});
      if (allowed || is_host(variant.around)) continue;
      if (action == Action::kept_segment) permit(number, {SCMP_A1(SCMP_CMP_LE, 16384)});
    }
  }

  void add_process_arguments() {
    permit(SYS_clone, {SCMP_A0(SCMP_CMP_MASKED_EQ,
                               CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                                   CLONE_NEWPID | CLONE_NEWNET,
                               0)});
    for (uint64_t persona : {uint64_t{PER_LINUX}, uint64_t{ADDR_NO_RANDOMIZE}, low_word}) {
      permit(SYS_personality, {SCMP_A0(SCMP_CMP_MASKED_EQ, low_word, persona)});
    }
    for (uint64_t operation : {SECCOMP_SET_MODE_STRICT, SECCOMP_SET_MODE_FILTER, SECCOMP_GET_ACTION_AVAIL}) {
      permit(SYS_seccomp, {SCMP_A0(SCMP_CMP_MASKED_EQ, low_word, operation),
                           SCMP_A1(SCMP_CMP_MASKED_EQ, SECCOMP_FILTER_FLAG_NEW_LISTENER, 0)});
    }
    // Limits of oneself, or a question.
    permit(SYS_prlimit64, {SCMP_A0(SCMP_CMP_MASKED_EQ, low_word, 0)});
    permit(SYS_prlimit64, {SCMP_A2(SCMP_CMP_EQ, 0)});
    for (uint64_t option :
         {PR_SET_PDEATHSIG,        PR_GET_PDEATHSIG,     PR_GET_DUMPABLE,      PR_SET_DUMPABLE,
          PR_GET_KEEPCAPS,         PR_SET_KEEPCAPS,      PR_SET_NAME,          PR_GET_NAME,
          PR_GET_SECCOMP,          PR_SET_SECCOMP,       PR_CAPBSET_READ,      PR_CAPBSET_DROP,
          PR_GET_SECUREBITS,       PR_SET_TIMERSLACK,    PR_GET_TIMERSLACK,    PR_SET_CHILD_SUBREAPER,
          PR_GET_CHILD_SUBREAPER,  PR_SET_NO_NEW_PRIVS,  PR_GET_NO_NEW_PRIVS,  PR_GET_TID_ADDRESS,
          PR_SET_THP_DISABLE,      PR_GET_THP_DISABLE,   PR_CAP_AMBIENT,       PR_GET_SPECULATION_CTRL,
          PR_SET_SPECULATION_CTRL, 65 /* PR_SET_MDWE */, 66 /* PR_GET_MDWE */, PR_SET_VMA,
          PR_SET_PTRACER}) {
      permit(SYS_prctl, {SCMP_A0(SCMP_CMP_MASKED_EQ, low_word, option)});
    }
    // Only to free space. libc answers "not supported" by writing instead, which a watch can follow.
    permit(SYS_fallocate, {SCMP_A1(SCMP_CMP_MASKED_EQ, FALLOC_FL_PUNCH_HOLE, FALLOC_FL_PUNCH_HOLE)});
    rule(SCMP_ACT_ERRNO(EOPNOTSUPP), SYS_fallocate, {SCMP_A1(SCMP_CMP_MASKED_EQ, FALLOC_FL_PUNCH_HOLE, 0)});
  }

  // All requests that are like `value` in the bits of `mask`.
  struct Requests {
    uint64_t value;
    uint64_t mask = low_word;
  };
  static constexpr uint64_t kind_bits = 0xff00;

  void add_requests(Around around) {
    std::vector<Requests> refused = {{TIOCSTI}, {TIOCLINUX}, {TIOCCONS}, {TIOCSETD}};
    for (uint64_t request : space_requests) refused.push_back({request});
    if (is_host(around)) {
      for (uint64_t kind : file_system_kinds) refused.push_back({kind << 8, kind_bits});
      for (uint64_t request : harmless_requests)
        permit(SYS_ioctl, {SCMP_A1(SCMP_CMP_MASKED_EQ, low_word, request)});
    }
    permit_all_requests_but(refused, {0, 0});
  }

  // libseccomp cannot say "unless one of": so the rest is cut into blocks of requests that share some bits,
  // those of the kind first.
  void permit_all_requests_but(const std::vector<Requests>& refused, const Requests& block) {
    bool touched = false;
    for (const auto& [value, mask] : refused) {
      const bool apart = ((value ^ block.value) & mask & block.mask) != 0;
      if (!apart && (mask & ~block.mask) == 0) return;  // the whole block
      touched = touched || !apart;
    }
    if (!touched) return permit(SYS_ioctl, {SCMP_A1(SCMP_CMP_MASKED_EQ, block.mask, block.value)});
    const uint64_t open_bits = low_word & ~block.mask;
    const uint64_t bit = std::bit_floor((open_bits & kind_bits) != 0 ? open_bits & kind_bits : open_bits);
    permit_all_requests_but(refused, {block.value, block.mask | bit});
    permit_all_requests_but(refused, {block.value | bit, block.mask | bit});
  }

  void permit_socket(uint64_t family, uint64_t type, std::optional<uint64_t> protocol) {
    std::vector<scmp_arg_cmp> conditions = {SCMP_A0(SCMP_CMP_MASKED_EQ, low_word, family),
                                            SCMP_A1(SCMP_CMP_MASKED_EQ, 0xf, type)};
    if (protocol) conditions.push_back(SCMP_A2(SCMP_CMP_MASKED_EQ, low_word, *protocol));
    permit(SYS_socket, conditions);
  }

  void add_named_sockets() {
    for (int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET})
      permit_socket(AF_UNIX, static_cast<uint64_t>(type), std::nullopt);
    permit(SYS_socketpair, {SCMP_A0(SCMP_CMP_MASKED_EQ, low_word, AF_UNIX)});
  }

  void add_network_sockets() {
    for (int family : {AF_INET, AF_INET6}) {
      for (uint64_t protocol : {0, 6 /* TCP */})
        permit_socket(static_cast<uint64_t>(family), SOCK_STREAM, protocol);
      for (uint64_t protocol : {0, 17 /* UDP */})
        permit_socket(static_cast<uint64_t>(family), SOCK_DGRAM, protocol);
    }
    for (int type : {SOCK_RAW, SOCK_DGRAM})
      permit_socket(AF_NETLINK, static_cast<uint64_t>(type), 0 /* NETLINK_ROUTE */);
  }

  // Of sockets nothing but pairs that stay pairs.
  void add_pair_arguments() {
    for (uint64_t type : {SOCK_STREAM, SOCK_SEQPACKET}) {
      permit(SYS_socketpair,
             {SCMP_A0(SCMP_CMP_MASKED_EQ, low_word, AF_UNIX), SCMP_A1(SCMP_CMP_MASKED_EQ, 0xf, type)});
    }
  }

  void add_modes() {
    constexpr uint64_t set_id = 06000;
    constexpr uint64_t makes_a_file = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);
    for (int number : {SYS_creat, SYS_mkdir, SYS_mknod})
      permit(number, {SCMP_A1(SCMP_CMP_MASKED_EQ, set_id, 0)});
    for (int number : {SYS_mkdirat, SYS_mknodat}) permit(number, {SCMP_A2(SCMP_CMP_MASKED_EQ, set_id, 0)});
    permit(SYS_open, {SCMP_A1(SCMP_CMP_MASKED_EQ, makes_a_file, 0)});
    permit(SYS_open, {SCMP_A2(SCMP_CMP_MASKED_EQ, set_id, 0)});
    permit(SYS_openat, {SCMP_A2(SCMP_CMP_MASKED_EQ, makes_a_file, 0)});
    permit(SYS_openat, {SCMP_A3(SCMP_CMP_MASKED_EQ, set_id, 0)});
  }

  void add_new_modes(uint32_t answer) {
    for (int number : {SYS_chmod, SYS_fchmod}) rule(answer, number, {SCMP_A1(SCMP_CMP_MASKED_EQ, 06000, 0)});
    for (int number : {SYS_fchmodat, 452 /* fchmodat2 */})
      rule(answer, number, {SCMP_A2(SCMP_CMP_MASKED_EQ, 06000, 0)});
  }

  // Landlock looks at none of these.
  void add_what_no_view_keeps_apart() {
    add_new_modes(SCMP_ACT_NOTIFY);
    for (int number : {SYS_chown, SYS_fchown, SYS_lchown, SYS_fchownat, SYS_utime, SYS_utimes, SYS_futimesat,
                       SYS_utimensat, SYS_inotify_add_watch})
      rule(SCMP_ACT_NOTIFY, number, {});
    for (int number :
         {SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr})
      rule(SCMP_ACT_ERRNO(EOPNOTSUPP), number, {});
    for (int number : {SYS_sched_setparam, SYS_sched_setscheduler, SYS_sched_setaffinity, SYS_sched_setattr})
      add_schedule(number);
    for (int number : {SYS_setpriority, SYS_ioprio_set}) {
      for (uint64_t what : {0, 1}) add_priority(number, what);
    }
  }

  void add_signals() {
    for (int number : {SYS_kill, SYS_tkill, SYS_tgkill}) rule(SCMP_ACT_NOTIFY, number, {});
  }

  // Of 0 by every process, and of any other number, in which some bit is set, by the warden.
  void add_schedule(int number) {
    permit(number, {SCMP_A0(SCMP_CMP_MASKED_EQ, low_word, 0)});
    for (uint64_t bit = 1; bit <= low_word; bit <<= 1)
      rule(SCMP_ACT_NOTIFY, number, {SCMP_A0(SCMP_CMP_MASKED_EQ, bit, bit)});
  }
  void add_priority(int number, uint64_t what) {
    const auto of = SCMP_A0(SCMP_CMP_MASKED_EQ, low_word, what);
    permit(number, {of, SCMP_A1(SCMP_CMP_MASKED_EQ, low_word, 0)});
    for (uint64_t bit = 1; bit <= low_word; bit <<= 1)
      rule(SCMP_ACT_NOTIFY, number, {of, SCMP_A1(SCMP_CMP_MASKED_EQ, bit, bit)});
  }

  std::unique_ptr<void, void (*)(scmp_filter_ctx)> context_;
  Architecture architecture_;
};

// Values to try for one argument: each with an empty, a full and an odd upper half.
std::vector<uint64_t> with_upper_halves(const std::vector<uint64_t>& values) {
  std::vector<uint64_t> all;
  for (uint64_t value : values) {
    for (uint64_t upper : {uint64_t{0}, uint64_t{1} << 32, ~low_word}) all.push_back(value | upper);
  }
  return all;
}

std::vector<uint64_t> every_bit_and(std::vector<uint64_t> values) {
  for (int bit = 0; bit < 32; ++bit) values.push_back(1ULL << bit);
  for (uint64_t value : {0ULL, 1ULL, 2ULL, 3ULL, 0x7fffffffULL, 0x80000000ULL, 0xfffffffeULL, 0xffffffffULL})
    values.push_back(value);
  return with_upper_halves(values);
}

struct Tried {
  int number;
  std::vector<std::vector<uint64_t>> arguments;  // what to try for the first, the second, ...
};

std::vector<Tried> argument_cases() {
  const auto modes = every_bit_and({0644, 0755, 01777, 04755, 02755, 06755, 07777, 0100644, S_IFIFO | 0644});
  const auto flags = every_bit_and(
      {O_RDONLY, O_WRONLY | O_CREAT, O_RDWR | O_TMPFILE, O_DIRECTORY, O_CREAT | O_EXCL | O_CLOEXEC});
  const auto any = std::vector<uint64_t>{0, ~0ULL};
  const auto some_modes = with_upper_halves({0644, 02755, 04755});
  const auto some_flags = with_upper_halves({O_RDONLY, O_WRONLY | O_CREAT, O_RDWR | O_TMPFILE});
  std::vector<uint64_t> small;
  for (uint64_t value = 0; value < 80; ++value) small.push_back(value);
  std::vector<uint64_t> requests = {0x5401, TIOCGWINSZ, FIONREAD, 0x40045412, 0x15412};
  for (uint64_t request = 0x5400; request < 0x5440; ++request) requests.push_back(request);
  requests.insert(requests.end(), std::begin(owners_requests), std::end(owners_requests));
  requests.insert(requests.end(), std::begin(harmless_requests), std::end(harmless_requests));
  std::vector<uint64_t> options = {PR_SET_VMA, PR_SET_PTRACER, PR_SET_VMA + 1, PR_SET_PTRACER - 1};
  for (uint64_t option = 0; option < 90; ++option) options.push_back(option);
  const auto types = with_upper_halves(
      {0, 1, 2, 3, 4, 5, 6, 10, 15, 16, 17, SOCK_STREAM | SOCK_CLOEXEC, SOCK_RAW | SOCK_NONBLOCK});
  const auto protocols = with_upper_halves({0, 1, 6, 17, 132, 255, 256, 262});
  std::vector<Tried> cases = {
      {SYS_clone, {every_bit_and({SIGCHLD, 0x3d0f00, 0x7e020000, CLONE_NEWUSER | SIGCHLD, 0x01200011}), any}},
      {SYS_socket, {with_upper_halves({0, 1, 2, 3, 10, 15, 16, 17, 38, 40, 42, 0x10001}), types, protocols}},
      {SYS_socketpair, {with_upper_halves(small), types}},
      {SYS_ioctl, {any, every_bit_and(requests)}},
      {SYS_prctl, {every_bit_and(options), any}},
      {SYS_personality, {every_bit_and({0x40000, 0x20000, 0x400000, 8, 0x440000})}},
      {SYS_seccomp, {with_upper_halves({0, 1, 2, 3, 4, 0x80000000, low_word}), every_bit_and({8, 9, 0x18})}},
      {SYS_fallocate, {any, every_bit_and({3, 0x10, 0x11}), any}},
      {SYS_memfd_create, {any, every_bit_and({8, 9, 10, 11, 12, 0x18, 0x1c, 0x1f})}},
      {SYS_shmget, {any, every_bit_and({16383, 16384, 16385}), any}},
      {SYS_prlimit64, {with_upper_halves({0, 1, 2, 0x80000000, low_word}), any, every_bit_and({})}},
      {SYS_open, {any, flags, some_modes}},
      {SYS_open, {any, some_flags, modes}},
      {SYS_openat, {any, any, flags, some_modes}},
      {SYS_openat, {any, any, some_flags, modes}},
  };
  for (int number : {SYS_creat, SYS_chmod, SYS_fchmod, SYS_mkdir, SYS_mknod})
    cases.push_back({number, {any, modes, any}});
  for (int number : {SYS_fchmodat, 452, SYS_mkdirat, SYS_mknodat})
    cases.push_back({number, {any, any, modes, any}});
  const auto whom = every_bit_and({4711});
  for (int number : {SYS_sched_setparam, SYS_sched_setscheduler, SYS_sched_setaffinity, SYS_sched_setattr})
    cases.push_back({number, {whom, any}});
  for (int number : {SYS_setpriority, SYS_ioprio_set})
    cases.push_back({number, {with_upper_halves(small), whom, any}});
  for (int number : {SYS_kill, SYS_tkill, SYS_tgkill}) cases.push_back({number, {whom, any, any}});
  return cases;
}

// Calls `visit` with every combination of the values.
template <typename Visit>
void for_each_combination(const std::vector<std::vector<uint64_t>>& values, Arguments& arguments,
                          size_t index, const Visit& visit) {
  if (index == values.size()) return visit(arguments);
  for (uint64_t value : values[index]) {
    arguments[index] = value;
    for_each_combination(values, arguments, index + 1, visit);
  }
}

const Arguments garbage[] = {{},
                             {1, 1, 1, 1, 1, 1},
                             {~0ULL, ~0ULL, ~0ULL, ~0ULL},
                             {06000, 06000, 06000, 06000},
                             {CLONE_NEWUSER, TIOCSTI, 64}};

class FilterAgainstLibseccomp : public testing::TestWithParam<Variant> {
 protected:
  // The same policy there.
  static const Filter* variant_on_x86_64() {
    const auto* found = std::find_if(std::begin(variants), std::end(variants), [](const Variant& one) {
      return one.tracing == GetParam().tracing && one.memory == GetParam().memory &&
             one.around == GetParam().around && one.asks_about_signals == GetParam().asks_about_signals;
    });
    return &found->filter;
  }
};

TEST_P(FilterAgainstLibseccomp, AgreesOnEveryNumber) {
  const Program oracle = Oracle(GetParam(), SCMP_ACT_KILL_PROCESS).exported();
  const bool is_native = GetParam().architecture == Architecture::x86_64;
  for (int number = 0; number <= (is_native ? last_number : last_of_libseccomp); ++number) {
    const auto there = number_on(GetParam().architecture, number);
    if (!there) continue;
    for (const auto& arguments : garbage) {
      const auto data = call(*there, arguments, audit_architecture(GetParam().architecture));
      ASSERT_EQ(as_refusal(number, answer_of(GetParam(), data)), interpret(oracle, data)) << *there;
    }
  }
}

// What libseccomp has no name for there is no call; the newest ones are answered as on the other
// architecture.
TEST_P(FilterAgainstLibseccomp, OnAarch64OtherNumbersAreNoCallsOrTheSame) {
  if (GetParam().architecture == Architecture::x86_64) {
    EXPECT_EQ(variant_on_x86_64(), &GetParam().filter);
    return;
  }
  for (uint32_t number = 0; number <= last_number; ++number) {
    const std::unique_ptr<char, void (*)(void*)> name(
        seccomp_syscall_resolve_num_arch(SCMP_ARCH_AARCH64, static_cast<int>(number)), std::free);
    for (const auto& arguments : garbage) {
      const auto ours = answer_of(GetParam(), call(number, arguments, AUDIT_ARCH_AARCH64));
      if (number > last_of_libseccomp) {
        EXPECT_EQ(ours, interpret(code_of(*variant_on_x86_64()), call(number, arguments))) << number;
      } else if (name == nullptr) {
        EXPECT_EQ(ours, enosys) << number;
      }
    }
  }
}

bool is_signal(int number) { return number == SYS_kill || number == SYS_tkill || number == SYS_tgkill; }

// In a view they are allowed whatever they say: there is no other user to say it of.
bool is_plain_in_a_view(int number) {
  return is_signal(number) || number == SYS_setpriority || number == SYS_ioprio_set ||
         number == SYS_sched_setparam || number == SYS_sched_setscheduler ||
         number == SYS_sched_setaffinity || number == SYS_sched_setattr;
}

// The warden has every number but 0 to decide.
bool is_asked_of_any_number(int number) {
  return is_plain_in_a_view(number) && number != SYS_setpriority && number != SYS_ioprio_set;
}

TEST_P(FilterAgainstLibseccomp, AgreesOnEveryArgument) {
  const Program oracle = Oracle(GetParam(), SCMP_ACT_KILL_PROCESS).exported();
  for (const auto& [number, values] : argument_cases()) {
    const auto there = number_on(GetParam().architecture, number);
    if (!there) continue;
    size_t tried = 0;
    size_t allowed = 0;
    Arguments arguments{};
    for_each_combination(values, arguments, 0, [&, nr = number](const Arguments& chosen) {
      const auto data = call(*there, chosen, audit_architecture(GetParam().architecture));
      const auto ours = as_refusal(nr, answer_of(GetParam(), data));
      const bool is_known = nr <= last_of_libseccomp || GetParam().architecture == Architecture::x86_64;
      if (is_known && ours != interpret(oracle, data)) {
        ADD_FAILURE() << nr << " " << std::hex << chosen[0] << " " << chosen[1] << " " << chosen[2] << " "
                      << chosen[3];
      }
      ++tried;
      allowed += ours == allow || ours == ask ? 1 : 0;
    });
    const bool in_view = GetParam().around == Around::namespaces;
    if (number > last_of_libseccomp && GetParam().architecture != Architecture::x86_64) continue;
    const bool is_kept = number == SYS_shmget;
    const bool all_refused = (is_kept && !in_view) ||
                             (number == SYS_memfd_create && GetParam().memory == Memory::watched) ||
                             (number == SYS_socket && GetParam().around == Around::host);
    EXPECT_EQ(allowed > 0, !all_refused) << number;
    const bool all_allowed = is_kept   ? in_view && GetParam().memory == Memory::counted
                             : in_view ? is_plain_in_a_view(number)
                                       : is_asked_of_any_number(number);
    EXPECT_EQ(allowed == tried, all_allowed) << number << ": no value of an argument was refused";
  }
}

TEST_P(FilterAgainstLibseccomp, KillsEveryOtherArchitecture) {
  const Program oracle = Oracle(GetParam(), SCMP_ACT_KILL_PROCESS).exported();
  const uint32_t own = audit_architecture(GetParam().architecture);
  const uint32_t other = own ^ AUDIT_ARCH_X86_64 ^ AUDIT_ARCH_AARCH64;
  for (uint32_t arch : std::initializer_list<uint32_t>{AUDIT_ARCH_I386, AUDIT_ARCH_ARM, other,
                                                       AUDIT_ARCH_RISCV64, 0, ~0U, own ^ 1U}) {
    for (uint32_t number = 0; number <= last_number; ++number) {
      const auto data = call(number, {}, arch);
      ASSERT_EQ(answer_of(GetParam(), data), kill_process) << arch << " " << number;
      ASSERT_EQ(interpret(oracle, data), kill_process) << arch << " " << number;
    }
  }
}

// libseccomp takes x32 for an architecture of its own, so there the answer for others is what ours is:
// ENOSYS.
TEST_P(FilterAgainstLibseccomp, HasNoX32AndNoUnknownNumber) {
  const uint32_t arch = audit_architecture(GetParam().architecture);
  const bool has_x32 = GetParam().architecture == Architecture::x86_64;
  const Program oracle = Oracle(GetParam(), SCMP_ACT_ERRNO(ENOSYS)).exported();
  for (uint32_t base : {0x40000000U, 0x40000200U, 0x80000000U, 0xc0000000U}) {
    for (uint32_t number = 0; number <= last_number; ++number) {
      const auto data = call(base | number, {}, arch);
      ASSERT_EQ(answer_of(GetParam(), data), enosys) << std::hex << (base | number);
      if (has_x32) {
        ASSERT_EQ(interpret(oracle, data), enosys) << std::hex << (base | number);
      }
    }
  }
  for (uint32_t number : {470U, 601U, 999U, 0x10000U, 0x3fffffffU, 0x7fffffffU, 0xfffffffeU, 0xffffffffU}) {
    EXPECT_EQ(answer_of(GetParam(), call(number, {}, arch)), enosys) << number;
  }
}

INSTANTIATE_TEST_SUITE_P(Filters, FilterAgainstLibseccomp,
                         testing::ValuesIn(variants_of_every_architecture()), [](const auto& variant) {
                           std::string name = variant.param.name;
                           std::erase(name, ' ');
                           return (variant.param.architecture == Architecture::aarch64 ? "aarch64" : "") +
                                  name;
                         });

TEST(Filter, WithoutAViewNobodyChangesWhatAFileSystemKeepsOfAFile) {
  for (uint64_t request : with_upper_halves({std::begin(owners_requests), std::end(owners_requests)})) {
    EXPECT_EQ(interpret(code_of(alone_filter), call(SYS_ioctl, {3, request})), eperm) << request;
    EXPECT_EQ(interpret(code_of(command_filter), call(SYS_ioctl, {3, request})), allow) << request;
  }
}

TEST(Filter, ASocketThatIsNotThereIsToldAsByAKernelWithoutIt) {
  const struct {
    uint64_t family, type, protocol;
    int number;  // 0: allowed
  } rows[] = {{AF_INET, SOCK_STREAM, 0, 0},
              {AF_INET, SOCK_STREAM, 132 /* SCTP */, EPROTONOSUPPORT},
              {AF_INET, SOCK_STREAM, 262 /* MPTCP */, EPROTONOSUPPORT},
              {AF_INET6, SOCK_DGRAM, 136 /* UDP-Lite */, EPROTONOSUPPORT},
              {AF_INET, SOCK_DGRAM, 1 /* ICMP */, EPROTONOSUPPORT},
              {AF_INET, SOCK_RAW, 1, EPERM},  // as for every user without CAP_NET_RAW
              {AF_NETLINK, SOCK_RAW, 9 /* audit */, EPROTONOSUPPORT},
              {AF_NETLINK, SOCK_RAW, 0, 0},
              {AF_UNIX, SOCK_STREAM, 0, 0},
              {AF_PACKET, SOCK_RAW, 0, EAFNOSUPPORT},
              {40 /* vsock */, SOCK_STREAM, 0, EAFNOSUPPORT},
              {38 /* alg */, SOCK_SEQPACKET, 0, EAFNOSUPPORT},
              {~0ULL, SOCK_STREAM, 0, EAFNOSUPPORT}};
  for (const auto& row : rows) {
    const uint32_t expected = row.number == 0 ? allow : SECCOMP_RET_ERRNO | static_cast<uint32_t>(row.number);
    EXPECT_EQ(interpret(code_of(command_filter), call(SYS_socket, {row.family, row.type, row.protocol})),
              expected)
        << row.family << " " << row.type << " " << row.protocol;
  }
}

TEST(Filter, AnotherIdIsRefusedAndItsOwnIsNot) {
  constexpr uint32_t user = 1000, group = 60;
  const Filter filter = with_ids(ids_filter, user, group);
  const uint64_t same = low_word;  // -1
  const struct {
    long number;
    Arguments arguments;
    bool allowed;
  } rows[] = {{SYS_chown, {7, user, group}, true},
              {SYS_chown, {7, same, same}, true},
              {SYS_chown, {7, same, group}, true},
              {SYS_chown, {7, 0, same}, false},
              {SYS_chown, {7, same, user}, false},
              {SYS_fchown, {7, user, 0}, false},
              {SYS_fchown, {7, user, group}, true},
              {SYS_lchown, {7, group, group}, false},
              {SYS_fchownat, {0, 7, user, group}, true},
              {SYS_fchownat, {user, group, 0, group}, false},
              {SYS_setuid, {user, 0, 0}, true},
              {SYS_setuid, {0}, false},
              {SYS_setgid, {group}, true},
              {SYS_setgid, {user}, false},
              {SYS_setreuid, {same, user, 0}, true},
              {SYS_setreuid, {user, 0}, false},
              {SYS_setregid, {group, same}, true},
              {SYS_setregid, {0, group}, false},
              {SYS_setresuid, {user, user, user}, true},
              {SYS_setresuid, {user, user, 0}, false},
              {SYS_setresgid, {same, group, same}, true},
              {SYS_setresgid, {same, group, 0}, false},
              // The kernel looks at the lower half alone.
              {SYS_setuid, {user | (1ULL << 32)}, true},
              // Other calls are none of its business.
              {SYS_read, {0, 0, 0}, true},
              {SYS_setfsuid, {0}, true},
              {SYS_openat, {0, 0, 0}, true},
              {SYS_unlinkat, {0, 0, 0}, true}};
  for (const auto& row : rows) {
    EXPECT_EQ(interpret(code_of(filter), call(static_cast<uint32_t>(row.number), row.arguments)),
              row.allowed ? allow : eperm)
        << row.number << " " << row.arguments[0] << " " << row.arguments[1] << " " << row.arguments[2];
  }
}

// chown and lchown are not there; the others are looked at by their own numbers.
TEST(Filter, OnAarch64AnotherIdIsRefusedToo) {
  constexpr Filter filter = with_ids(compile_ids_filter(Architecture::aarch64), 1000, 60);
  for (const auto& row : detail::id_calls) {
    const int number = number_of(row.call, Architecture::aarch64);
    if (number == no_call) continue;
    Arguments own{};
    for (size_t i = 0; i < row.ids.size(); ++i) own[row.first + i] = row.ids[i] == 'u' ? 1000 : 60;
    Arguments other = own;
    other[row.first] = 0;
    EXPECT_EQ(interpret(code_of(filter), call(static_cast<uint32_t>(number), own)), allow) << number;
    EXPECT_EQ(interpret(code_of(filter), call(static_cast<uint32_t>(number), other)), eperm) << number;
  }
  EXPECT_EQ(interpret(code_of(filter), call(56 /* openat */, {0, 0, 0})), allow);
  EXPECT_EQ(interpret(code_of(filter), call(142 /* reboot */, {0, 0, 0})), allow);
  EXPECT_EQ(interpret(code_of(filter), call(151 /* setfsuid */, {0, 0, 0})), allow);
}

TEST(Filter, EveryCallThatIsDecidedByItsArgumentsIsTried) {
  const auto cases = argument_cases();
  for (const auto& group : groups) {
    const bool plain = group.action <= Action::refuse || group.action == Action::tracing ||
                       group.action == Action::kept_memory || group.action == Action::host_wide ||
                       group.action == Action::networked || group.action == Action::by_warden ||
                       group.action == Action::attributes;
    for (size_t i = 0; i < group.count && !plain; ++i) {
      EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), [&](const Tried& one) {
        return one.number == number_of(group.calls[i]);
      })) << number_of(group.calls[i]);
    }
  }
}

// A call that the warden carries out costs twice, and only where no view keeps it in.
TEST(Filter, OnlyWithoutAViewAnybodyIsAsked) {
  for (const auto& variant : variants) {
    for (uint32_t number = 0; number <= last_number; ++number) {
      bool asked = false;
      bool asks = false;
      for (const Arguments& arguments : {Arguments{0, 1, 1}, Arguments{1, 1, 1}}) {
        const auto data = call(number, arguments);
        asked = asked || asked_by(data).change != WardenRequest::Change::nothing;
        asks = asks || answer_of(variant, data) == ask;
      }
      const bool is_asked =
          is_host(variant.around) && (variant.asks_about_signals || !is_signal(static_cast<int>(number)));
      EXPECT_EQ(asks, asked && is_asked) << variant.name << " " << number;
    }
  }
}

TEST(Filter, BelowTheThirdLandlockNothingIsEmptiedThatWasNotOpenedToBeWritten) {
  const struct {
    long number;
    Arguments arguments;
    bool allowed;
  } rows[] = {{SYS_truncate, {7, 0}, false},
              {SYS_ftruncate, {3, 0}, true},  // of a descriptor that is open to be written
              {SYS_open, {7, O_RDONLY}, true},
              {SYS_open, {7, O_RDONLY | O_TRUNC}, false},
              {SYS_open, {7, 3 | O_TRUNC}, false},  // opened for ioctl alone, and emptied
              {SYS_open, {7, O_WRONLY | O_TRUNC | O_CREAT}, true},
              {SYS_open, {7, O_RDWR | O_TRUNC}, true},
              {SYS_open, {O_TRUNC, O_RDONLY}, true},
              {SYS_openat, {3, 7, O_RDONLY | O_TRUNC | O_CREAT | O_CLOEXEC}, false},
              {SYS_openat, {3, 7, (uint64_t{1} << 32) | O_TRUNC}, false},
              {SYS_openat, {3, 7, O_WRONLY | O_TRUNC}, true},
              {SYS_openat, {3, O_TRUNC, O_RDONLY}, true},
              {SYS_creat, {7, 0644}, true},
              {SYS_read, {3, O_TRUNC, O_TRUNC}, true}};
  for (const auto& row : rows) {
    for (const auto architecture : {Architecture::x86_64, Architecture::aarch64}) {
      const Filter& filter =
          architecture == Architecture::x86_64 ? truncation_filter : aarch64_truncation_filter;
      const auto number = number_on(architecture, static_cast<int>(row.number));
      if (!number) continue;
      EXPECT_EQ(interpret(code_of(filter), call(*number, row.arguments)), row.allowed ? allow : eperm)
          << *number << " " << row.arguments[0] << " " << row.arguments[1] << " " << row.arguments[2];
    }
  }
}

TEST(Filter, WithoutLandlockNoDeviceNodeIsMade) {
  const struct {
    int number;
    Arguments arguments;
    bool allowed;
  } rows[] = {{SYS_mknod, {7, S_IFCHR | 0600, 0}, false},
              {SYS_mknod, {7, S_IFBLK | 0600, 0}, false},
              {SYS_mknod, {7, (uint64_t{1} << 32) | S_IFCHR, 0}, false},
              {SYS_mknod, {7, S_IFIFO | 0600, 0}, true},
              {SYS_mknod, {7, S_IFSOCK | 0600, 0}, true},
              {SYS_mknod, {S_IFCHR, 0600, 0}, true},
              {SYS_mknodat, {3, 7, S_IFCHR | 0600, 0}, false},
              {SYS_mknodat, {3, 7, S_IFBLK, 0}, false},
              {SYS_mknodat, {3, S_IFCHR, S_IFREG | 0600, 0}, true},
              {SYS_read, {S_IFCHR, S_IFCHR, S_IFCHR}, true}};
  for (const auto& row : rows) {
    for (const auto architecture : {Architecture::x86_64, Architecture::aarch64}) {
      const Filter& filter =
          architecture == Architecture::x86_64 ? device_nodes_filter : aarch64_device_nodes_filter;
      const auto number = number_on(architecture, row.number);
      if (!number) continue;
      EXPECT_EQ(interpret(code_of(filter), call(*number, row.arguments)), row.allowed ? allow : eperm)
          << *number << " " << row.arguments[1] << " " << row.arguments[2];
    }
  }
}

TEST(Filter, BelowTheSixthLandlockNoSignalIsSentByAFileOrAPidfd) {
  const struct {
    long number;
    Arguments arguments;
    uint32_t answer;
  } rows[] = {{SYS_pidfd_send_signal, {3, 9}, enosys},
              {SYS_rt_sigqueueinfo, {4711, 9}, eperm},
              {SYS_rt_tgsigqueueinfo, {4711, 4711, 9}, eperm},
              {SYS_fcntl, {3, F_SETOWN, 4711}, eperm},
              {SYS_fcntl, {3, F_SETOWN | (uint64_t{1} << 32), 4711}, eperm},
              {SYS_fcntl, {3, 15 /* F_SETOWN_EX */}, eperm},
              {SYS_fcntl, {3, 10 /* F_SETSIG */, 9}, eperm},
              {SYS_fcntl, {F_SETOWN, F_SETFL, O_ASYNC}, allow},
              {SYS_fcntl, {3, F_GETOWN}, allow},
              {SYS_ioctl, {3, 0x8901 /* FIOSETOWN */, 7}, eperm},
              {SYS_ioctl, {3, 0x8902 /* SIOCSPGRP */, 7}, eperm},
              {SYS_ioctl, {3, 0x5421 /* FIONBIO */, 7}, allow},
              {SYS_kill, {4711, 9}, allow},  // asked by the other filter
              {SYS_read, {3, 8, 8}, allow}};
  for (const auto& row : rows) {
    for (const auto architecture : {Architecture::x86_64, Architecture::aarch64}) {
      const Filter& filter =
          architecture == Architecture::x86_64 ? owned_signals_filter : aarch64_owned_signals_filter;
      const auto number = number_on(architecture, static_cast<int>(row.number));
      ASSERT_TRUE(number.has_value()) << row.number;
      EXPECT_EQ(interpret(code_of(filter), call(*number, row.arguments)), row.answer)
          << *number << " " << row.arguments[1];
    }
  }
}

TEST(Filter, GrantsDifferInNothingElse) {
  for (uint32_t number = 0; number <= last_number; ++number) {
    const auto data = call(number);
    const auto usual = interpret(code_of(command_filter), data);
    const bool traces =
        number == SYS_ptrace || number == SYS_process_vm_readv || number == SYS_process_vm_writev;
    EXPECT_EQ(interpret(code_of(debugging_filter), data), traces ? allow : usual) << number;
    if (traces) {
      EXPECT_EQ(usual, eperm);
    }
    const auto watched = interpret(code_of(watched_command_filter), data);
    EXPECT_TRUE(watched == usual || (watched == eperm && usual == allow))
        << number << ": watched memory only refuses more";
  }
}

}  // namespace
}  // namespace cloche::jail
