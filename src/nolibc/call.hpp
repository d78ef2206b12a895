// nolibc: what cloche-jail and cloche-egress use of a C library, and nothing else. glibc's own start asks the
// processor about itself dozens of times, and in a virtual machine each question is a trap: a third of a
// millisecond before main(), more than everything the jail does to lock itself in.
//
// Built for one thread and no signal handlers, without thread-local storage: errno is a plain variable.
// The usual headers declare these functions, so the code that calls them is the same code that a library for
// other programs links with glibc. No other room includes this one.
#pragma once

#include <sys/syscall.h>

#include <cstddef>

namespace cloche::nolibc {

inline int the_errno;

inline constexpr size_t kernel_mask_bytes = 8;  // of a set of signals, where libc's own is larger

inline long raw(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
#if defined(__x86_64__)
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result = number;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x5 asm("x5") = f;
  asm volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
#else
#error "nolibc does not know how a system call is made on this architecture"
#endif
}

inline long checked(long result) {
  if (result >= 0 || result < -4095) return result;
  the_errno = static_cast<int>(-result);
  return -1;
}

template <typename... Arguments>
long call(long number, Arguments... arguments) {
  return checked(raw(number, (long)arguments...));  // NOLINT: pointers and numbers alike travel in registers
}

}  // namespace cloche::nolibc
