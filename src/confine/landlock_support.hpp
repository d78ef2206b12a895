// What the kernel's Landlock gives at an isolation level, by the version of its interface (ABI). Pure.
//
//   ABI  Linux  what came with it
//   1    5.13   files, but nothing moves between directories (EXDEV)
//   2    5.19   moves between directories
//   3    6.2    truncation
//   5    6.10   requests to devices (ioctl)
//   6    6.12   signals and abstract sockets (the scope)
#pragma once

#include <string>
#include <string_view>

#include "model/layers.hpp"

namespace cloche {

inline constexpr int least_landlock_abi = 2;        // of a level with namespaces: programs move files
inline constexpr int least_alone_landlock_abi = 1;  // of the level subprocess, where Landlock is the wall
inline constexpr int truncating_landlock_abi = 3;   // the first that denies truncation
inline constexpr int scoping_landlock_abi = 6;      // the first that keeps signals and abstract sockets in
inline constexpr int newest_landlock_abi = scoping_landlock_abi;  // of which the jail uses everything

struct LandlockSupport {
  int abi = 0;           // that the jail restricts files by; 0: by none
  std::string files_by;  // what keeps the layer landlock; empty: nothing does
  std::string scope_by;  // likewise of landlock_scope
};

int least_landlock_abi_of(IsolationLevel level);

// `offered` is what the kernel says: below 1 there is none.
LandlockSupport landlock_support(IsolationLevel level, int offered);

}  // namespace cloche
