// The doors `cloche run` and `cloche doctor`: words in, bytes and an exit code out. No decision is taken
// here.
#pragma once

#include <span>

#include "base/environment.hpp"
#include "doors/arguments.hpp"
#include "model/outcome.hpp"

namespace cloche {

// Which of the caller's descriptors 0, 1 and 2 were open when the process started.
struct CallersDescriptors {
  bool input = true;
  bool output = true;
  bool errors = true;
};

// An error of our own machinery as the end of a run.
Outcome outcome_of(const Error& error);
// Says how it went, on the channels that the words asked for, and gives the exit code.
int finish_run(const Outcome& outcome, const std::string& digest, const RunArguments& arguments);

int run_door(std::span<char* const> words, const Environment& environment, const CallersDescriptors& callers);
int doctor_door(std::span<char* const> words, const Environment& environment);

}  // namespace cloche
