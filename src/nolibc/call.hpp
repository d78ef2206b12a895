// nolibc: what cloche-jail and cloche-egress use of a C library, and nothing else. glibc's own start asks the
// processor about itself dozens of times, and in a virtual machine each question is a trap: a third of a
// millisecond before main(), more than everything the jail does to lock itself in.
//
// Built for one thread and no signal handlers, without thread-local storage: errno is a plain variable.
// The usual headers declare these functions, so the code that calls them is the same code that a library for
// other programs links with glibc. No other room includes this one.
#pragma once

#include <sys/syscall.h>

#ifndef __x86_64__
#error "nolibc knows the system calls of x86-64 only"
#endif

namespace cloche::nolibc {

inline int the_errno;

inline long raw(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result = number;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
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
