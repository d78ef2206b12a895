// A program that links Cloche has its own signals. Two of them would end it for what is an ordinary error of
// ours: a command that does not read its input, and the program's own limit on files.
#pragma once

#include <csignal>

#include "base/result.hpp"

namespace cloche {

// They wait while this is there, for this thread alone; what came meanwhile is put away.
class HeldPipeSignals {
 public:
  HeldPipeSignals();
  ~HeldPipeSignals();
  HeldPipeSignals(const HeldPipeSignals&) = delete;
  HeldPipeSignals& operator=(const HeldPipeSignals&) = delete;

 private:
  sigset_t held_{};
  sigset_t before_{};
};

// An Error where the program has the kernel forget how its children ended.
Result<void> judge_child_signal();

}  // namespace cloche
