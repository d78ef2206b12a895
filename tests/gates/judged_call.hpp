// A run_shell call on its real way: judged, planned and - when it is permitted - run, all in this process.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gateway/judge.hpp"

namespace cloche::test {

struct Called {
  Judged explanation;
  std::optional<Outcome> outcome;  // unless it was refused
  std::string planned_digest;
  std::string run_digest;
};

// `cmd` under this ceiling. An error of ours fails the test.
Called call_run_shell(const std::filesystem::path& workspace, const std::string& cmd,
                      CommandProfile commands = CommandProfile::passive);

// Whether the system has it, where a passive call would look for it.
bool is_installed(const std::string& program);

}  // namespace cloche::test
