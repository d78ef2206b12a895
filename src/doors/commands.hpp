// The commands of `cloche`, by which app/main.cpp calls the front ends: each takes the words after its name,
// prints, and returns an exit code. `run` also takes an approver (cli/run_command.hpp).
#pragma once

#include <span>

#include "base/sys/environment.hpp"

namespace cloche {

int approve_command(std::span<char* const> words, const Environment& environment);
int call_command(std::span<char* const> words, const Environment& environment);
int changes_command(std::span<char* const> words, const Environment& environment);
int config_command(std::span<char* const> words, const Environment& environment);
int diff_command(std::span<char* const> words, const Environment& environment);
int doctor_command(std::span<char* const> words, const Environment& environment);
int explain_command(std::span<char* const> words, const Environment& environment);
int hook_command(std::span<char* const> words, const Environment& environment);
int log_command(std::span<char* const> words, const Environment& environment);
int mcp_command(std::span<char* const> words, const Environment& environment);
int new_command(std::span<char* const> words, const Environment& environment);
int profiles_command(std::span<char* const> words, const Environment& environment);
int test_command(std::span<char* const> words, const Environment& environment);
int tools_command(std::span<char* const> words, const Environment& environment);
int undo_command(std::span<char* const> words, const Environment& environment);
int wrap_command(std::span<char* const> words, const Environment& environment);

}  // namespace cloche
