// System calls by name, and their number on each architecture that Cloche is made for. The table of what a
// command may call (syscalls.hpp) names calls alone, so it is one table for all of them.
#pragma once

#include <linux/audit.h>

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace cloche::jail {

enum class Architecture : unsigned char { x86_64, aarch64 };

#if defined(__x86_64__)
inline constexpr Architecture this_architecture = Architecture::x86_64;
#elif defined(__aarch64__)
inline constexpr Architecture this_architecture = Architecture::aarch64;
#else
#error "the system calls of this architecture are not in call_numbers.inc"
#endif

// What the kernel tells a filter, for every call.
constexpr uint32_t audit_architecture(Architecture architecture) {
  return architecture == Architecture::x86_64 ? uint32_t{AUDIT_ARCH_X86_64} : uint32_t{AUDIT_ARCH_AARCH64};
}

#define CALL(name, on_x86_64, on_aarch64) name,
enum class Call : short {
#include "jail/core/call_numbers.inc"
};
#undef CALL

struct CallNumbers {
  const char* name;
  short on_x86_64;
  short on_aarch64;
};

inline constexpr short no_call = -1;  // the architecture has none of this name

namespace detail {
inline constexpr short none = no_call;
#define CALL(name, on_x86_64, on_aarch64) {#name, on_x86_64, on_aarch64},
inline constexpr CallNumbers call_numbers[] = {
#include "jail/core/call_numbers.inc"
};
#undef CALL
}  // namespace detail

inline constexpr size_t call_count = std::size(detail::call_numbers);

constexpr int number_of(Call call, Architecture architecture = this_architecture) {
  const CallNumbers& numbers = detail::call_numbers[static_cast<size_t>(call)];
  return architecture == Architecture::x86_64 ? numbers.on_x86_64 : numbers.on_aarch64;
}

}  // namespace cloche::jail
