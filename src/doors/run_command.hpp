// The doors `cloche run` and `cloche doctor`: words in, bytes and an exit code out. No decision is taken
// here.
#pragma once

#include <span>

#include "base/environment.hpp"

namespace cloche {

// Which of the caller's descriptors 0, 1 and 2 were open when the process started.
struct CallersDescriptors {
  bool input = true;
  bool output = true;
  bool errors = true;
};

int run_door(std::span<char* const> words, const Environment& environment, const CallersDescriptors& callers);
int doctor_door(std::span<char* const> words, const Environment& environment);

}  // namespace cloche
