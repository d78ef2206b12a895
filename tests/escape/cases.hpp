// The tables of attacks. A row says what is tried, on which stage, and what its control needs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "escape/stage.hpp"

namespace cloche::test {

struct Case {
  std::string name;    // of the test: Escape/NAME.held/IDENTITY
  std::string attack;  // of escape-attacks
  std::function<void(Stage&)> set = {};
  // Why the control cannot work as the other identity even without Cloche. It then runs as this one.
  std::string control_only_as_root = {};
  std::string control_only_as_nobody = {};
  // Why there may be no control on this machine at all: the kernel or the host has not got the thing. The
  // attack is made all the same and must be held; the test then counts as skipped, with this sentence.
  std::string may_be_missing = {};
};

using Cases = std::vector<Case>;

Cases file_cases();
Cases mode_bit_cases();
Cases descriptor_cases();
Cases secret_cases();
Cases process_cases();
Cases socket_cases();
Cases privilege_cases();
Cases kernel_surface_cases();
Cases terminal_cases();
Cases ipc_cases();

}  // namespace cloche::test
