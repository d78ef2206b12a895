// The seccomp program, compiled at build time from syscalls.hpp.
//
// The kernel charges for a filter by its longest path, so neighbouring numbers with one answer are merged
// into a range and the ranges are found by binary search, whose last comparison jumps to a reply or to the
// block that looks at the arguments. Only the low word of an argument is compared, because each of these
// arguments is an int to the kernel: a comparison of all 64 bits could be dodged with a bit that the kernel
// ignores.
#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "jail/core/syscalls.hpp"

namespace cloche::jail {

struct Filter {
  std::array<sock_filter, 512> code{};
  size_t size = 0;
};

enum class Tracing { refused, allowed };
enum class Memory { counted, watched };  // by a cgroup, or from outside
// Namespaces of its own, or the host's: then whatever leads out of the process's own tree is refused, because
// nothing else stands between it and the host's network, its sockets by name, and the queues and segments of
// others. What Landlock does not look at the warden does (warden.hpp). With the host's network, chosen by the
// operator, its sockets are let through, and a second filter looks at their kinds.
enum class Around { namespaces, host, host_with_network };
constexpr bool is_host(Around around) { return around != Around::namespaces; }

namespace detail {

inline constexpr uint32_t reply_allow = SECCOMP_RET_ALLOW;
inline constexpr uint32_t reply_refuse = SECCOMP_RET_ERRNO | 1;        // EPERM
inline constexpr uint32_t reply_absent = SECCOMP_RET_ERRNO | 38;       // ENOSYS
inline constexpr uint32_t reply_unsupported = SECCOMP_RET_ERRNO | 95;  // EOPNOTSUPP
// As of a kernel without that family or protocol, so that programs take the way that they have for it.
inline constexpr uint32_t reply_no_family = SECCOMP_RET_ERRNO | 97;    // EAFNOSUPPORT
inline constexpr uint32_t reply_no_protocol = SECCOMP_RET_ERRNO | 93;  // EPROTONOSUPPORT
inline constexpr uint32_t reply_kill = SECCOMP_RET_KILL_PROCESS;
inline constexpr uint32_t reply_ask = SECCOMP_RET_USER_NOTIF;  // ENOSYS where no process listens
inline constexpr uint32_t x32_bit = 0x40000000;

// What the arguments are held against; spelled out because the jail includes no header that would bring them
// all.
inline constexpr uint32_t new_namespaces = 0x7e020000;  // CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET}
inline constexpr uint32_t set_id_bits = 06000;
inline constexpr uint32_t creating = 0100 | 020000000;                      // O_CREAT, O_TMPFILE's own bit
inline constexpr uint32_t memfd_noexec_seal = 8, memfd_refused = 0x10 | 4;  // MFD_EXEC, MFD_HUGETLB
inline constexpr uint32_t seccomp_new_listener = 8;
inline constexpr uint32_t punch_hole = 2;  // FALLOC_FL_PUNCH_HOLE
// Where memory is watched: with the kernel's own limit on their number, 64 MiB of segments are beyond the
// watch.
inline constexpr uint32_t most_segment_bytes = 16384;

// Requests on a terminal that put bytes into its input, take it over, or reach the console.
inline constexpr uint32_t terminal_ioctls[] = {0x5412 /* TIOCSTI */, 0x541c /* TIOCLINUX */,
                                               0x541d /* TIOCCONS */, 0x5423 /* TIOCSETD */};
// Requests on a file that take space by another listener than fallocate.
inline constexpr uint32_t space_ioctls[] = {0x40305828 /* FS_IOC_RESVSP */, 0x4030582a /* FS_IOC_RESVSP64 */,
                                            0x40305839 /* FS_IOC_ZERO_RANGE */};
// Requests to a file system. Many change what Landlock does not look at, by a descriptor that was opened to
// read: flags, versions, extents, keys, subvolumes are for the owner of a file to change. Where there is no
// mount view that is read-only, only those are let through that change nothing, or only what was opened to
// be written; every other request of these kinds is refused, by whichever file system it is known.
inline constexpr uint32_t request_kind = 0xff00;
inline constexpr uint32_t file_system_kinds[] = {0x6600 /* 'f': ext4, and what many share */,
                                                 0x7600 /* 'v': versions of an inode */,
                                                 0x5800 /* 'X': XFS, and what many share */,
                                                 0x9400 /* btrfs, and what many share */,
                                                 0xf500 /* f2fs */,
                                                 0x7200 /* 'r': FAT */};
inline constexpr uint32_t harmless_file_ioctls[] = {0x80086601 /* FS_IOC_GETFLAGS */,
                                                    0x80086603 /* EXT4_IOC_GETVERSION */,
                                                    0xc020660b /* FS_IOC_FIEMAP */,
                                                    0x80087601 /* FS_IOC_GETVERSION */,
                                                    0x801c581f /* FS_IOC_FSGETXATTR */,
                                                    0x40049409 /* FICLONE */,
                                                    0x4020940d /* FICLONERANGE */,
                                                    0xc0189436 /* FIDEDUPERANGE: of what is equal */,
                                                    0x80047210 /* FAT_IOCTL_GET_ATTRIBUTES */};
inline constexpr uint32_t allowed_prctls[] = {1 /* SET_PDEATHSIG */,
                                              2 /* GET_PDEATHSIG */,
                                              3 /* GET_DUMPABLE */,
                                              4 /* SET_DUMPABLE */,
                                              7 /* GET_KEEPCAPS */,
                                              8 /* SET_KEEPCAPS */,
                                              15 /* SET_NAME */,
                                              16 /* GET_NAME */,
                                              21 /* GET_SECCOMP */,
                                              22 /* SET_SECCOMP */,
                                              23 /* CAPBSET_READ */,
                                              24 /* CAPBSET_DROP */,
                                              27 /* GET_SECUREBITS */,
                                              29 /* SET_TIMERSLACK */,
                                              30 /* GET_TIMERSLACK */,
                                              36 /* SET_CHILD_SUBREAPER */,
                                              37 /* GET_CHILD_SUBREAPER */,
                                              38 /* SET_NO_NEW_PRIVS */,
                                              39 /* GET_NO_NEW_PRIVS */,
                                              40 /* GET_TID_ADDRESS */,
                                              41 /* SET_THP_DISABLE */,
                                              42 /* GET_THP_DISABLE */,
                                              47 /* CAP_AMBIENT */,
                                              52 /* GET_SPECULATION_CTRL */,
                                              53 /* SET_SPECULATION_CTRL */,
                                              65 /* SET_MDWE */,
                                              66 /* GET_MDWE */,
                                              0x53564d41 /* SET_VMA names */,
                                              0x59616d61 /* SET_PTRACER: whom Yama lets trace us */};
inline constexpr uint32_t allowed_personas[] = {0, 0x0040000 /* ADDR_NO_RANDOMIZE */, 0xffffffff /* ask */};
// Compared with the architecture, which it is not: so no signal is asked about, until it is made one that is
// (see asking_about_signals).
inline constexpr uint32_t signals_are_asked = 0xc10c0003;
inline constexpr uint32_t last_seccomp_operation = 2;  // strict, filter, is-this-action-there

void jump_is_too_far();  // never defined: only an attempt to compile a filter that does not fit would call it

// Emits code with jumps to places that are not known yet. A reply stands once, at the end: a jump to it
// costs one instruction where a reply in place would cost two.
class Assembler {
 public:
  enum class To : unsigned char {
    next,
    allow,
    refuse,
    absent,
    unsupported,
    no_family,
    no_protocol,
    kill,
    ask
  };

  constexpr void load_number() { emit(BPF_LD | BPF_W | BPF_ABS, 0); }
  constexpr void load_arch() { emit(BPF_LD | BPF_W | BPF_ABS, 4); }
  constexpr void load_argument(unsigned index) { emit(BPF_LD | BPF_W | BPF_ABS, 16 + 8 * index); }
  constexpr void load_high_argument(unsigned index) { emit(BPF_LD | BPF_W | BPF_ABS, 20 + 8 * index); }
  constexpr void mask(uint32_t bits) { emit(BPF_ALU | BPF_AND | BPF_K, bits); }
  constexpr void go(To to) { emit(BPF_JMP | BPF_JA, 0, to); }
  constexpr void if_equal(uint32_t value, To yes, To no = To::next) {
    emit(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no);
  }
  constexpr void if_any_bit(uint32_t bits, To yes, To no = To::next) {
    emit(BPF_JMP | BPF_JSET | BPF_K, bits, yes, no);
  }
  constexpr void if_at_least(uint32_t value, To yes, To no = To::next) {
    emit(BPF_JMP | BPF_JGE | BPF_K, value, yes, no);
  }

  // Jumps to a place later in the code: returns where the jump stands, for land().
  constexpr size_t unless_equal_skip(uint32_t value) { return emit(BPF_JMP | BPF_JEQ | BPF_K, value); }
  constexpr size_t if_equal_skip(uint32_t value) { return emit(BPF_JMP | BPF_JEQ | BPF_K, value); }
  constexpr size_t compare_number(uint32_t value, To yes, To no) {
    return emit(BPF_JMP | BPF_JGE | BPF_K, value, yes, no);
  }
  constexpr void land_when_true(size_t from) { filter_.code[from].jt = distance(from); }
  constexpr void land_when_false(size_t from) { filter_.code[from].jf = distance(from); }

  // Each reply that is used stands once, behind everything else.
  constexpr Filter finish() {
    const size_t replies = filter_.size;
    std::array<size_t, std::size(values_of_replies)> places{};
    for (size_t reply = 1; reply < places.size(); ++reply) {
      if (!is_used(static_cast<To>(reply), replies)) continue;
      places[reply] = filter_.size;
      emit(BPF_RET | BPF_K, values_of_replies[reply]);
    }
    const auto jump_to = [&](To reply, size_t from) { return places[static_cast<size_t>(reply)] - from - 1; };
    for (size_t i = 0; i < replies; ++i) {
      auto& at = filter_.code[i];
      if (at.code == (BPF_JMP | BPF_JA)) at.k = static_cast<uint32_t>(jump_to(yes_[i], i));
      if (yes_[i] != To::next && at.code != (BPF_JMP | BPF_JA)) at.jt = checked(jump_to(yes_[i], i));
      if (no_[i] != To::next) at.jf = checked(jump_to(no_[i], i));
    }
    return filter_;
  }

 private:
  // By the number of To; a jump to the next instruction is no reply.
  static constexpr uint32_t values_of_replies[] = {0,
                                                   reply_allow,
                                                   reply_refuse,
                                                   reply_absent,
                                                   reply_unsupported,
                                                   reply_no_family,
                                                   reply_no_protocol,
                                                   reply_kill,
                                                   reply_ask};

  constexpr bool is_used(To reply, size_t count) const {
    for (size_t i = 0; i < count; ++i) {
      if (yes_[i] == reply || no_[i] == reply) return true;
    }
    return false;
  }
  static constexpr uint8_t checked(size_t jump) {
    if (jump > 255) jump_is_too_far();  // not constexpr: a compile error
    return static_cast<uint8_t>(jump);
  }
  constexpr uint8_t distance(size_t from) const { return checked(filter_.size - from - 1); }
  constexpr size_t emit(unsigned code, uint32_t k, To yes = To::next, To no = To::next) {
    filter_.code[filter_.size] = {static_cast<uint16_t>(code), 0, 0, k};
    yes_[filter_.size] = yes;
    no_[filter_.size] = no;
    return filter_.size++;
  }

  Filter filter_{};
  std::array<To, 512> yes_{};
  std::array<To, 512> no_{};
};
using To = Assembler::To;

constexpr void check_mode(Assembler& out, unsigned mode, To otherwise = To::allow) {
  out.load_argument(mode);
  out.if_any_bit(set_id_bits, To::refuse, otherwise);
}

// Without O_CREAT or O_TMPFILE the kernel does not look at the mode, and the register may hold anything.
constexpr void check_mode_of_open(Assembler& out, unsigned flags) {
  out.load_argument(flags);
  out.if_any_bit(creating, To::next, To::allow);
  check_mode(out, flags + 1);
}

// family, then type without SOCK_NONBLOCK and SOCK_CLOEXEC, then protocol.
constexpr uint32_t unix_family = 1;
constexpr uint32_t stream = 1, datagram = 2, raw = 3, seqpacket = 5, type_bits = 0xf;

// Of a family that is not unix, which is loaded.
constexpr void check_network_socket(Assembler& out) {
  constexpr uint32_t inet = 2, inet6 = 10, netlink = 16, tcp = 6, udp = 17;
  const size_t not_netlink = out.unless_equal_skip(netlink);
  out.load_argument(2);
  out.if_equal(0 /* NETLINK_ROUTE */, To::next, To::no_protocol);
  out.load_argument(1);
  out.mask(type_bits);
  out.if_equal(raw, To::allow);  // netlink's own word for a datagram
  out.if_equal(datagram, To::allow, To::refuse);

  out.land_when_false(not_netlink);
  const size_t is_inet = out.if_equal_skip(inet);
  out.if_equal(inet6, To::next, To::no_family);
  out.land_when_true(is_inet);
  out.load_argument(1);
  out.mask(type_bits);
  const size_t not_stream = out.unless_equal_skip(stream);
  out.load_argument(2);
  out.if_equal(0, To::allow);
  out.if_equal(tcp, To::allow, To::no_protocol);
  out.land_when_false(not_stream);
  out.if_equal(datagram, To::next, To::refuse);
  out.load_argument(2);
  out.if_equal(0, To::allow);
  out.if_equal(udp, To::allow, To::no_protocol);
}

constexpr void check_socket(Assembler& out) {
  out.load_argument(0);
  const size_t not_unix = out.unless_equal_skip(unix_family);
  out.load_argument(1);
  out.mask(type_bits);
  out.if_equal(stream, To::allow);
  out.if_equal(datagram, To::allow);
  out.if_equal(seqpacket, To::allow, To::refuse);
  out.land_when_false(not_unix);
  check_network_socket(out);
}

// setpriority(what, who, ...) and ioprio_set, whose words for a process are 0 and 1. In the first 1 is a
// group of processes: without a number the own one, in which no other process is.
constexpr void check_priority(Assembler& out) {
  out.load_argument(0);
  out.if_at_least(2, To::refuse);
  out.load_argument(1);
  out.if_equal(0, To::allow, To::ask);
}

constexpr void check_request(Assembler& out, Around around) {
  out.load_argument(1);
  for (uint32_t request : terminal_ioctls) out.if_equal(request, To::refuse);
  if (is_host(around)) {
    for (uint32_t request : harmless_file_ioctls) out.if_equal(request, To::allow);
    out.mask(request_kind);
    for (uint32_t kind : file_system_kinds) out.if_equal(kind, To::refuse);
  } else {
    for (uint32_t request : space_ioctls) out.if_equal(request, To::refuse);
  }
  out.go(To::allow);
}

constexpr void check_arguments(Assembler& out, Action action, Around around) {
  const To changes = is_host(around) ? To::ask : To::allow;
  switch (action) {
    case Action::clone_flags:
      out.load_argument(0);
      return out.if_any_bit(new_namespaces, To::refuse, To::allow);
    case Action::socket_kind: return check_socket(out);
    case Action::socket_pair:
      out.load_argument(0);
      return out.if_equal(1 /* AF_UNIX */, To::allow, To::refuse);
    case Action::stream_pair:
      out.load_argument(0);
      out.if_equal(1 /* AF_UNIX */, To::next, To::refuse);
      out.load_argument(1);
      out.mask(0xf);
      out.if_equal(1 /* SOCK_STREAM */, To::allow);
      return out.if_equal(5 /* SOCK_SEQPACKET */, To::allow, To::refuse);
    case Action::ioctl_request: return check_request(out, around);
    case Action::prctl_option:
      out.load_argument(0);
      for (uint32_t option : allowed_prctls) out.if_equal(option, To::allow);
      return out.go(To::refuse);
    case Action::persona:
      out.load_argument(0);
      for (uint32_t persona : allowed_personas) out.if_equal(persona, To::allow);
      return out.go(To::refuse);
    case Action::seccomp_operation:
      out.load_argument(1);
      out.if_any_bit(seccomp_new_listener, To::refuse);
      out.load_argument(0);
      return out.if_at_least(last_seccomp_operation + 1, To::refuse, To::allow);
    case Action::fallocate_mode:
      out.load_argument(1);
      return out.if_any_bit(punch_hole, To::allow, To::unsupported);
    case Action::limits_of_others:
      // prlimit64(process, resource, new limits, old limits): process 0, or no new limits.
      out.load_argument(0);
      out.if_equal(0, To::allow);
      out.load_argument(2);
      out.if_equal(0, To::next, To::refuse);
      out.load_high_argument(2);
      return out.if_equal(0, To::allow, To::refuse);
    case Action::kept_segment:
      out.load_high_argument(1);
      out.if_equal(0, To::next, To::refuse);
      out.load_argument(1);
      return out.if_at_least(most_segment_bytes + 1, To::refuse, To::allow);
    case Action::memfd_flags:
      out.load_argument(1);
      out.if_any_bit(memfd_refused, To::refuse);
      return out.if_any_bit(memfd_noexec_seal, To::allow, To::refuse);
    case Action::mode_argument_1: return check_mode(out, 1);
    case Action::mode_argument_2: return check_mode(out, 2);
    case Action::new_mode_1: return check_mode(out, 1, changes);
    case Action::new_mode_2: return check_mode(out, 2, changes);
    case Action::mode_of_open: return check_mode_of_open(out, 1);
    case Action::mode_of_openat: return check_mode_of_open(out, 2);
    case Action::of_oneself: out.load_argument(0); return out.if_equal(0, To::allow, To::ask);
    case Action::of_one_oneself: return check_priority(out);
    case Action::by_warden: return out.go(To::ask);
    case Action::signal: out.load_arch(); return out.if_equal(signals_are_asked, To::ask, To::allow);
    case Action::attributes: return out.go(To::unsupported);
    case Action::absent:
    case Action::allow:
    case Action::refuse:
    case Action::tracing:
    case Action::kept_memory:
    case Action::host_wide:
    case Action::networked: break;
  }
  out.go(To::refuse);
}

struct Range {
  uint32_t first = 0;
  Action action = Action::absent;
};

struct Ranges {
  std::array<Range, last_known_call + 2> list{};
  size_t size = 0;
};

constexpr Ranges merge(Tracing tracing, Memory memory, Around around, Architecture architecture) {
  std::array<Action, last_known_call + 2> by_number{};  // Action{} is absent
  for (const auto& group : groups) {
    for (size_t i = 0; i < group.count; ++i) {
      const int number = number_of(group.calls[i], architecture);
      if (number != no_call) by_number[static_cast<size_t>(number)] = group.action;
    }
  }
  Ranges ranges;
  for (size_t nr = 0; nr < by_number.size(); ++nr) {
    Action action = by_number[nr];
    if (action == Action::tracing) action = tracing == Tracing::allowed ? Action::allow : Action::refuse;
    if (action == Action::host_wide) action = is_host(around) ? Action::refuse : Action::allow;
    if (action == Action::networked) action = around == Around::host ? Action::refuse : Action::allow;
    const bool in_view_alone = action == Action::by_warden || action == Action::attributes ||
                               action == Action::of_oneself || action == Action::of_one_oneself ||
                               action == Action::signal;
    if (!is_host(around) && in_view_alone) action = Action::allow;
    if (is_host(around) && action == Action::socket_kind)
      action = around == Around::host ? Action::refuse : Action::allow;
    const bool is_kept = action == Action::kept_memory || action == Action::kept_segment;
    if (is_kept && is_host(around)) {
      action = Action::refuse;
    } else if (is_kept && memory == Memory::counted) {
      action = Action::allow;
    }
    // A datagram socket of a pair can still be turned to any other address.
    if (is_host(around) && action == Action::socket_pair) action = Action::stream_pair;
    if (action == Action::kept_memory) action = Action::refuse;
    if (action == Action::memfd_flags && memory == Memory::watched) action = Action::refuse;
    if (ranges.size > 0 && ranges.list[ranges.size - 1].action == action) continue;
    ranges.list[ranges.size++] = {static_cast<uint32_t>(nr), action};
  }
  return ranges;
}

inline constexpr size_t action_count = static_cast<size_t>(Action::signal) + 1;

constexpr bool is_plain(Action action) { return action <= Action::refuse; }
constexpr To reply_of(Action action) {
  if (action == Action::allow) return To::allow;
  return action == Action::refuse ? To::refuse : To::absent;
}

// One outcome of a comparison of call numbers: where it stands, and which of its two ways is still open.
struct Open {
  size_t at = 0;
  bool when_true = false;
  Action action = Action::absent;
};
struct OpenEnds {
  std::array<Open, 64> list{};
  size_t size = 0;
};

// The upper half of [first, last) begins at ranges[middle]. A half that is one range is answered by the
// comparison itself: by a reply, or by a jump to the block that looks at the arguments.
constexpr void search(Assembler& out, const Ranges& ranges, size_t first, size_t last, OpenEnds& ends) {
  const size_t middle = first + (last - first) / 2;
  const bool lower_is_one = middle - first == 1;
  const bool upper_is_one = last - middle == 1;
  const Action lower = ranges.list[first].action;
  const Action upper = ranges.list[middle].action;
  const To no = lower_is_one && is_plain(lower) ? reply_of(lower) : To::next;
  const To yes = upper_is_one && is_plain(upper) ? reply_of(upper) : To::next;
  const size_t at = out.compare_number(ranges.list[middle].first, yes, no);
  if (lower_is_one && !is_plain(lower)) ends.list[ends.size++] = {at, false, lower};
  if (upper_is_one && !is_plain(upper)) ends.list[ends.size++] = {at, true, upper};
  if (!lower_is_one) search(out, ranges, first, middle, ends);
  if (!upper_is_one) {
    out.land_when_true(at);
    search(out, ranges, middle, last, ends);
  }
}

}  // namespace detail

constexpr Filter compile_filter(Tracing tracing, Memory memory, Around around = Around::namespaces,
                                Architecture architecture = this_architecture) {
  using detail::To;
  detail::Assembler out;
  out.load_arch();
  out.if_equal(audit_architecture(architecture), To::next, To::kill);
  out.load_number();
  if (architecture == Architecture::x86_64) out.if_at_least(detail::x32_bit, To::absent);
  const auto ranges = detail::merge(tracing, memory, around, architecture);
  detail::OpenEnds ends;
  detail::search(out, ranges, 0, ranges.size, ends);
  for (size_t action = 0; action < detail::action_count; ++action) {
    bool used = false;
    for (size_t i = 0; i < ends.size; ++i) {
      const auto& end = ends.list[i];
      if (static_cast<size_t>(end.action) != action) continue;
      end.when_true ? out.land_when_true(end.at) : out.land_when_false(end.at);
      used = true;
    }
    if (used) detail::check_arguments(out, static_cast<Action>(action), around);
  }
  return out.finish();
}

// For a command without a box that has the host's network, beside the filter of all other calls: with this in
// it, that one would be too long for its jumps. Sockets of the network alone, since those by name are the
// host's.
constexpr Filter compile_network_sockets_filter(Architecture architecture = this_architecture) {
  using detail::To;
  detail::Assembler out;
  out.load_arch();
  out.if_equal(audit_architecture(architecture), To::next, To::kill);
  out.load_number();
  out.if_equal(static_cast<uint32_t>(number_of(Call::socket, architecture)), To::next, To::allow);
  out.load_argument(0);
  out.if_equal(detail::unix_family, To::refuse);
  detail::check_network_socket(out);
  return out.finish();
}

// The user and the group of the command are the only ones that its user namespace has, and the kernel answers
// EINVAL for every other, as for a number that is none. Programs expect EPERM, as without the right to it.
namespace detail {

struct IdCall {
  Call call;
  unsigned first;        // the argument that the ids begin at
  std::string_view ids;  // u: a user, g: a group
};
inline constexpr IdCall id_calls[] = {
    {Call::chown, 1, "ug"},    {Call::fchown, 1, "ug"},     {Call::lchown, 1, "ug"},
    {Call::setuid, 0, "u"},    {Call::setgid, 0, "g"},      {Call::setreuid, 0, "uu"},
    {Call::setregid, 0, "gg"}, {Call::setresuid, 0, "uuu"}, {Call::setresgid, 0, "ggg"},
    {Call::fchownat, 2, "ug"},
};
inline constexpr uint32_t same_id = ~0U;  // -1: as it is

// Stand for the ids, which are not known when this is compiled: see with_ids.
inline constexpr uint32_t own_user = 0xc10c0001, own_group = 0xc10c0002;

}  // namespace detail

constexpr Filter compile_ids_filter(Architecture architecture = this_architecture) {
  using detail::To;
  uint32_t first = ~0U;
  uint32_t last = 0;
  for (const detail::IdCall& call : detail::id_calls) {
    const int number = number_of(call.call, architecture);
    if (number == no_call) continue;
    first = std::min(first, static_cast<uint32_t>(number));
    last = std::max(last, static_cast<uint32_t>(number));
  }
  detail::Assembler out;
  out.load_number();
  out.if_at_least(last + 1, To::allow);
  out.if_at_least(first, To::next, To::allow);
  for (const detail::IdCall& call : detail::id_calls) {
    const int number = number_of(call.call, architecture);
    if (number == no_call) continue;
    const size_t another = out.unless_equal_skip(static_cast<uint32_t>(number));
    for (unsigned i = 0; i < call.ids.size(); ++i) {
      out.load_argument(call.first + i);
      const size_t own = out.if_equal_skip(call.ids[i] == 'u' ? detail::own_user : detail::own_group);
      out.if_equal(detail::same_id, To::next, To::refuse);
      out.land_when_true(own);
    }
    out.go(To::allow);
    out.land_when_false(another);
  }
  out.go(To::allow);
  return out.finish();
}

inline constexpr Filter ids_filter = compile_ids_filter();

constexpr Filter with_ids(Filter filter, uint32_t user, uint32_t group) {
  for (size_t i = 0; i < filter.size; ++i) {
    auto& at = filter.code[i];
    if (at.code != (BPF_JMP | BPF_JEQ | BPF_K)) continue;
    if (at.k == detail::own_user) {
      at.k = user;
    } else if (at.k == detail::own_group) {
      at.k = group;
    }
  }
  return filter;
}

// For a kernel whose Landlock has no scope: without a box the warden is asked whom a signal reaches.
constexpr Filter asking_about_signals(Filter filter, Architecture architecture = this_architecture) {
  for (size_t i = 0; i < filter.size; ++i) {
    auto& at = filter.code[i];
    if (at.code == (BPF_JMP | BPF_JEQ | BPF_K) && at.k == detail::signals_are_asked)
      at.k = audit_architecture(architecture);
  }
  return filter;
}

// Beside it: the ways to a signal that programs seldom take, with a value or by a file that has an owner. A
// pidfd is answered as by a kernel without them.
constexpr Filter compile_owned_signals_filter(Architecture architecture = this_architecture) {
  using detail::To;
  const auto number = [&](Call call) { return static_cast<uint32_t>(number_of(call, architecture)); };
  constexpr uint32_t set_owner = 8, set_signal = 10,
                     set_extended_owner = 15;                               // F_SETOWN, F_SETSIG, F_SETOWN_EX
  constexpr uint32_t set_files_owner = 0x8901, set_sockets_owner = 0x8902;  // FIOSETOWN, SIOCSPGRP
  detail::Assembler out;
  out.load_number();
  out.if_equal(number(Call::pidfd_send_signal), To::absent);
  out.if_equal(number(Call::rt_sigqueueinfo), To::refuse);
  out.if_equal(number(Call::rt_tgsigqueueinfo), To::refuse);
  const size_t not_fcntl = out.unless_equal_skip(number(Call::fcntl));
  out.load_argument(1);
  out.if_equal(set_owner, To::refuse);
  out.if_equal(set_signal, To::refuse);
  out.if_equal(set_extended_owner, To::refuse, To::allow);
  out.land_when_false(not_fcntl);
  out.if_equal(number(Call::ioctl), To::next, To::allow);
  out.load_argument(1);
  out.if_equal(set_files_owner, To::refuse);
  out.if_equal(set_sockets_owner, To::refuse, To::allow);
  return out.finish();
}

namespace detail {

constexpr void check_truncating(Assembler& out, unsigned flags) {
  constexpr uint32_t truncating = 01000, access = 3, write_only = 1, read_and_write = 2;
  out.load_argument(flags);
  out.if_any_bit(truncating, To::next, To::allow);
  out.mask(access);
  out.if_equal(write_only, To::allow);
  out.if_equal(read_and_write, To::allow, To::refuse);
}

}  // namespace detail

// For a kernel whose Landlock does not look at truncation: refuses what would empty a file without opening it
// to be written, because that opening is what Landlock judges.
constexpr Filter compile_truncation_filter(Architecture architecture = this_architecture) {
  using detail::To;
  const auto number = [&](Call call) { return static_cast<uint32_t>(number_of(call, architecture)); };
  detail::Assembler out;
  out.load_number();
  out.if_equal(number(Call::truncate), To::refuse);
  if (number_of(Call::open, architecture) != no_call) {
    const size_t not_open = out.unless_equal_skip(number(Call::open));
    detail::check_truncating(out, 1);
    out.land_when_false(not_open);
  }
  out.if_equal(number(Call::openat), To::next, To::allow);
  detail::check_truncating(out, 2);
  return out.finish();
}

// For a command without Landlock, which gives none the right to it: refuses device nodes. One kind, 0:0,
// takes no capability, and an overlay takes it for a mark that what has its name is deleted.
constexpr Filter compile_device_nodes_filter(Architecture architecture = this_architecture) {
  using detail::To;
  constexpr uint32_t file_type = 0170000, character = 0020000, block = 0060000;
  detail::Assembler out;
  const auto refuse_devices = [&](unsigned mode) {
    out.load_argument(mode);
    out.mask(file_type);
    out.if_equal(character, To::refuse);
    out.if_equal(block, To::refuse, To::allow);
  };
  out.load_number();
  if (number_of(Call::mknod, architecture) != no_call) {
    const size_t another = out.unless_equal_skip(static_cast<uint32_t>(number_of(Call::mknod, architecture)));
    refuse_devices(1);
    out.land_when_false(another);
  }
  out.if_equal(static_cast<uint32_t>(number_of(Call::mknodat, architecture)), To::next, To::allow);
  refuse_devices(2);
  return out.finish();
}

inline constexpr Filter device_nodes_filter = compile_device_nodes_filter();
inline constexpr Filter owned_signals_filter = compile_owned_signals_filter();
inline constexpr Filter truncation_filter = compile_truncation_filter();
inline constexpr Filter network_sockets_filter = compile_network_sockets_filter();
inline constexpr Filter command_filter = compile_filter(Tracing::refused, Memory::counted);
inline constexpr Filter debugging_filter = compile_filter(Tracing::allowed, Memory::counted);
inline constexpr Filter watched_command_filter = compile_filter(Tracing::refused, Memory::watched);
inline constexpr Filter watched_debugging_filter = compile_filter(Tracing::allowed, Memory::watched);
inline constexpr Filter alone_filter = compile_filter(Tracing::refused, Memory::counted, Around::host);
inline constexpr Filter alone_debugging_filter =
    compile_filter(Tracing::allowed, Memory::counted, Around::host);
inline constexpr Filter watched_alone_filter =
    compile_filter(Tracing::refused, Memory::watched, Around::host);
inline constexpr Filter watched_alone_debugging_filter =
    compile_filter(Tracing::allowed, Memory::watched, Around::host);
inline constexpr Filter networked_filter =
    compile_filter(Tracing::refused, Memory::counted, Around::host_with_network);
inline constexpr Filter networked_debugging_filter =
    compile_filter(Tracing::allowed, Memory::counted, Around::host_with_network);
inline constexpr Filter watched_networked_filter =
    compile_filter(Tracing::refused, Memory::watched, Around::host_with_network);
inline constexpr Filter watched_networked_debugging_filter =
    compile_filter(Tracing::allowed, Memory::watched, Around::host_with_network);

}  // namespace cloche::jail
