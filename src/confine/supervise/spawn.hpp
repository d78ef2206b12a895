// Starting the jail, the network gate, or a program that is watched: the only place that executes
// a program.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "confine/own_process.hpp"

namespace cloche {

struct Spawned {
  pid_t pid = -1;
  OwnedFd pidfd;
};

// Executes `program`, which is one of Cloche's own, with these arguments, an empty environment unless one is
// given, and `fds[i]` as descriptor i; nothing else is open.
Result<Spawned> spawn(const OwnProcess& right, const std::string& program, std::vector<std::string> arguments,
                      std::vector<int> fds, char* const* environment = nullptr);

}  // namespace cloche
