// What props share with each other, and with the attacks that look for what a victim hides.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace cloche::escape {

// Where victims keep their secret.
inline void* const secret_page = reinterpret_cast<void*>(0x200000000);
inline constexpr int victim_secret_descriptor = 9;

[[noreturn]] void prop_fails(const std::string& doing);
void become_command(std::vector<std::string> command);
int exit_code_of(pid_t child);

// A terminal around a command, see terminal_prop.cpp.
int run_with_terminal(const std::vector<std::string>& args, const std::vector<std::string>& command);

}  // namespace cloche::escape
