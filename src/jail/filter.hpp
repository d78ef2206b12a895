// The seccomp program, compiled at build time from syscalls.hpp.
//
// The kernel charges for a filter by its longest path, so neighbouring numbers with one answer are merged into a
// range and the ranges are found by binary search; each leaf answers in place or jumps to the block that looks at
// the arguments. Only the low word of an argument is compared, because each of these arguments is an int to the
// kernel: a comparison of all 64 bits could be dodged with a bit that the kernel ignores.
#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <array>
#include <cstdint>

#include "jail/syscalls.hpp"

namespace cloche::jail {

struct Filter {
  std::array<sock_filter, 512> code{};
  size_t size = 0;
};

enum class Tracing { refused, allowed };

namespace detail {

inline constexpr uint32_t reply_allow = SECCOMP_RET_ALLOW;
inline constexpr uint32_t reply_refuse = SECCOMP_RET_ERRNO | 1;   // EPERM
inline constexpr uint32_t reply_absent = SECCOMP_RET_ERRNO | 38;  // ENOSYS
inline constexpr uint32_t reply_kill = SECCOMP_RET_KILL_PROCESS;
inline constexpr uint32_t x32_bit = 0x40000000;

// What the arguments are held against; spelled out because the jail includes no header that would bring them all.
inline constexpr uint32_t new_namespaces = 0x7e020000;  // CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET}
inline constexpr uint32_t set_id_bits = 06000;
inline constexpr uint32_t creating = 0100 | 020000000;  // O_CREAT, O_TMPFILE's own bit
inline constexpr uint32_t memfd_noexec_seal = 8, memfd_refused = 0x10 | 4;  // MFD_EXEC, MFD_HUGETLB
inline constexpr uint32_t seccomp_new_listener = 8;

// Requests on a terminal that put bytes into its input, take it over, or reach the console.
inline constexpr uint32_t refused_ioctls[] = {0x5412 /* TIOCSTI */, 0x541c /* TIOCLINUX */, 0x541d /* TIOCCONS */,
                                              0x5423 /* TIOCSETD */};
inline constexpr uint32_t allowed_prctls[] = {
    1 /* SET_PDEATHSIG */,      2 /* GET_PDEATHSIG */,       3 /* GET_DUMPABLE */,     4 /* SET_DUMPABLE */,
    7 /* GET_KEEPCAPS */,       8 /* SET_KEEPCAPS */,        15 /* SET_NAME */,        16 /* GET_NAME */,
    21 /* GET_SECCOMP */,       22 /* SET_SECCOMP */,        23 /* CAPBSET_READ */,    24 /* CAPBSET_DROP */,
    27 /* GET_SECUREBITS */,    29 /* SET_TIMERSLACK */,     30 /* GET_TIMERSLACK */,  36 /* SET_CHILD_SUBREAPER */,
    37 /* GET_CHILD_SUBREAPER */, 38 /* SET_NO_NEW_PRIVS */, 39 /* GET_NO_NEW_PRIVS */, 40 /* GET_TID_ADDRESS */,
    41 /* SET_THP_DISABLE */,   42 /* GET_THP_DISABLE */,    47 /* CAP_AMBIENT */,     52 /* GET_SPECULATION_CTRL */,
    53 /* SET_SPECULATION_CTRL */, 65 /* SET_MDWE */,        66 /* GET_MDWE */,        0x53564d41 /* SET_VMA names */,
    0x59616d61 /* SET_PTRACER: whom Yama lets trace us */};
inline constexpr uint32_t allowed_personas[] = {0, 0x0040000 /* ADDR_NO_RANDOMIZE */, 0xffffffff /* ask */};
inline constexpr uint32_t last_seccomp_operation = 2;  // strict, filter, is-this-action-there

void jump_is_too_far();  // never defined: only an attempt to compile a filter that does not fit would call it

class Assembler {
 public:
  constexpr void load_number() { emit(BPF_LD | BPF_W | BPF_ABS, 0); }
  constexpr void load_arch() { emit(BPF_LD | BPF_W | BPF_ABS, 4); }
  constexpr void load_argument(unsigned index) { emit(BPF_LD | BPF_W | BPF_ABS, 16 + 8 * index); }
  constexpr void mask(uint32_t bits) { emit(BPF_ALU | BPF_AND | BPF_K, bits); }
  constexpr void reply(uint32_t action) { emit(BPF_RET | BPF_K, action); }
  constexpr void reply_if_equal(uint32_t value, uint32_t action) {
    emit(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    reply(action);
  }
  constexpr void reply_unless_equal(uint32_t value, uint32_t action) {
    emit(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
    reply(action);
  }
  constexpr void reply_if_any_bit(uint32_t bits, uint32_t action) {
    emit(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
    reply(action);
  }
  constexpr void reply_unless_any_bit(uint32_t bits, uint32_t action) {
    emit(BPF_JMP | BPF_JSET | BPF_K, bits, 1, 0);
    reply(action);
  }
  constexpr void reply_if_at_least(uint32_t value, uint32_t action) {
    emit(BPF_JMP | BPF_JGE | BPF_K, value, 0, 1);
    reply(action);
  }
  // A jump whose target is not known yet: returns where it stands.
  constexpr size_t jump_if_at_least(uint32_t value) { return emit(BPF_JMP | BPF_JGE | BPF_K, value, 255, 0); }
  constexpr size_t jump_unless_equal(uint32_t value) { return emit(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 255); }
  constexpr size_t jump() { return emit(BPF_JMP | BPF_JA, 0); }
  constexpr void land(size_t from) {
    auto& at = filter_.code[from];
    const size_t distance = filter_.size - from - 1;
    if (at.code == (BPF_JMP | BPF_JA)) {
      at.k = static_cast<uint32_t>(distance);
      return;
    }
    if (distance >= 255) jump_is_too_far();  // not constexpr: a compile error
    (at.jt == 255 ? at.jt : at.jf) = static_cast<uint8_t>(distance);
  }
  constexpr Filter take() const { return filter_; }

 private:
  constexpr size_t emit(unsigned code, uint32_t k, uint8_t jt = 0, uint8_t jf = 0) {
    filter_.code[filter_.size] = {static_cast<uint16_t>(code), jt, jf, k};
    return filter_.size++;
  }
  Filter filter_{};
};

constexpr void check_mode(Assembler& out, unsigned mode) {
  out.load_argument(mode);
  out.reply_if_any_bit(set_id_bits, reply_refuse);
  out.reply(reply_allow);
}

// Without O_CREAT or O_TMPFILE the kernel does not look at the mode, and the register may hold anything.
constexpr void check_mode_of_open(Assembler& out, unsigned flags) {
  out.load_argument(flags);
  out.reply_unless_any_bit(creating, reply_allow);
  check_mode(out, flags + 1);
}

// family, then type without SOCK_NONBLOCK and SOCK_CLOEXEC, then protocol.
constexpr void check_socket(Assembler& out) {
  constexpr uint32_t unix_family = 1, inet = 2, inet6 = 10, netlink = 16;
  constexpr uint32_t stream = 1, datagram = 2, raw = 3, seqpacket = 5, tcp = 6, udp = 17, type_bits = 0xf;
  out.load_argument(0);
  const size_t not_unix = out.jump_unless_equal(unix_family);
  out.load_argument(1);
  out.mask(type_bits);
  out.reply_if_equal(stream, reply_allow);
  out.reply_if_equal(datagram, reply_allow);
  out.reply_if_equal(seqpacket, reply_allow);
  out.reply(reply_refuse);

  out.land(not_unix);
  const size_t not_netlink = out.jump_unless_equal(netlink);
  out.load_argument(2);
  out.reply_unless_equal(0 /* NETLINK_ROUTE */, reply_refuse);
  out.load_argument(1);
  out.mask(type_bits);
  out.reply_if_equal(raw, reply_allow);  // netlink's own word for a datagram
  out.reply_if_equal(datagram, reply_allow);
  out.reply(reply_refuse);

  out.land(not_netlink);
  const size_t not_inet = out.jump_unless_equal(inet);
  const size_t is_inet = out.jump();
  out.land(not_inet);
  out.reply_unless_equal(inet6, reply_refuse);
  out.land(is_inet);
  out.load_argument(1);
  out.mask(type_bits);
  const size_t not_stream = out.jump_unless_equal(stream);
  out.load_argument(2);
  out.reply_if_equal(0, reply_allow);
  out.reply_if_equal(tcp, reply_allow);
  out.reply(reply_refuse);
  out.land(not_stream);
  out.reply_unless_equal(datagram, reply_refuse);
  out.load_argument(2);
  out.reply_if_equal(0, reply_allow);
  out.reply_if_equal(udp, reply_allow);
  out.reply(reply_refuse);
}

constexpr void check_arguments(Assembler& out, Action action) {
  switch (action) {
    case Action::clone_flags:
      out.load_argument(0);
      out.reply_if_any_bit(new_namespaces, reply_refuse);
      return out.reply(reply_allow);
    case Action::socket_kind: return check_socket(out);
    case Action::socket_pair:
      out.load_argument(0);
      out.reply_unless_equal(1 /* AF_UNIX */, reply_refuse);
      return out.reply(reply_allow);
    case Action::ioctl_request:
      out.load_argument(1);
      for (uint32_t request : refused_ioctls) out.reply_if_equal(request, reply_refuse);
      return out.reply(reply_allow);
    case Action::prctl_option:
      out.load_argument(0);
      for (uint32_t option : allowed_prctls) out.reply_if_equal(option, reply_allow);
      return out.reply(reply_refuse);
    case Action::persona:
      out.load_argument(0);
      for (uint32_t persona : allowed_personas) out.reply_if_equal(persona, reply_allow);
      return out.reply(reply_refuse);
    case Action::seccomp_operation:
      out.load_argument(1);
      out.reply_if_any_bit(seccomp_new_listener, reply_refuse);
      out.load_argument(0);
      out.reply_if_at_least(last_seccomp_operation + 1, reply_refuse);
      return out.reply(reply_allow);
    case Action::memfd_flags:
      out.load_argument(1);
      out.reply_if_any_bit(memfd_refused, reply_refuse);
      out.reply_unless_any_bit(memfd_noexec_seal, reply_refuse);
      return out.reply(reply_allow);
    case Action::mode_argument_1: return check_mode(out, 1);
    case Action::mode_argument_2: return check_mode(out, 2);
    case Action::mode_of_open: return check_mode_of_open(out, 1);
    case Action::mode_of_openat: return check_mode_of_open(out, 2);
    case Action::absent:
    case Action::allow:
    case Action::refuse:
    case Action::tracing: break;
  }
  out.reply(reply_refuse);
}

struct Range {
  uint32_t first = 0;
  Action action = Action::absent;
};

struct Ranges {
  std::array<Range, last_known_call + 2> list{};
  size_t size = 0;
};

constexpr Ranges merge(Tracing tracing) {
  std::array<Action, last_known_call + 2> by_number{};  // Action{} is absent
  for (const auto& group : groups) {
    for (size_t i = 0; i < group.count; ++i) by_number[static_cast<size_t>(group.calls[i])] = group.action;
  }
  Ranges ranges;
  for (size_t nr = 0; nr < by_number.size(); ++nr) {
    Action action = by_number[nr];
    if (action == Action::tracing) action = tracing == Tracing::allowed ? Action::allow : Action::refuse;
    if (ranges.size > 0 && ranges.list[ranges.size - 1].action == action) continue;
    ranges.list[ranges.size++] = {static_cast<uint32_t>(nr), action};
  }
  return ranges;
}

inline constexpr size_t action_count = static_cast<size_t>(Action::tracing) + 1;

struct Leaves {
  std::array<std::array<size_t, 4>, action_count> jumps{};  // from where each argument block is jumped to
  std::array<size_t, action_count> count{};
};

constexpr void search(Assembler& out, const Ranges& ranges, size_t first, size_t last, Leaves& leaves) {
  if (last - first > 1) {
    const size_t middle = first + (last - first) / 2;
    const size_t to_upper = out.jump_if_at_least(ranges.list[middle].first);
    search(out, ranges, first, middle, leaves);
    out.land(to_upper);
    return search(out, ranges, middle, last, leaves);
  }
  switch (const Action action = ranges.list[first].action; action) {
    case Action::absent: return out.reply(reply_absent);
    case Action::allow: return out.reply(reply_allow);
    case Action::refuse: return out.reply(reply_refuse);
    default: {
      const auto index = static_cast<size_t>(action);
      leaves.jumps[index][leaves.count[index]++] = out.jump();
    }
  }
}

}  // namespace detail

constexpr Filter compile_filter(Tracing tracing) {
  detail::Assembler out;
  out.load_arch();
  out.reply_unless_equal(AUDIT_ARCH_X86_64, detail::reply_kill);
  out.load_number();
  out.reply_if_at_least(detail::x32_bit, detail::reply_absent);
  const auto ranges = detail::merge(tracing);
  detail::Leaves leaves;
  detail::search(out, ranges, 0, ranges.size, leaves);
  for (size_t action = 0; action < detail::action_count; ++action) {
    if (leaves.count[action] == 0) continue;
    for (size_t i = 0; i < leaves.count[action]; ++i) out.land(leaves.jumps[action][i]);
    detail::check_arguments(out, static_cast<Action>(action));
  }
  return out.take();
}

inline constexpr Filter command_filter = compile_filter(Tracing::refused);
inline constexpr Filter debugging_filter = compile_filter(Tracing::allowed);

}  // namespace cloche::jail
