// Starting the jail, the network gate, or a program that is watched: the only place that executes
// a program.
#pragma once

#include <sys/types.h>

#include <memory>
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

// What a process that was begun needs of us until it has executed.
class Startup {
 public:
  Startup();
  Startup(Startup&&) noexcept;
  Startup& operator=(Startup&&) noexcept;
  Startup(const Startup&) = delete;
  Startup& operator=(const Startup&) = delete;
  ~Startup();  // waits as finish() does

  // Waits until it has executed. An Error: it could not, and ends.
  Result<void> finish();

  struct Memory;
  explicit Startup(std::unique_ptr<Memory> memory);

 private:
  std::unique_ptr<Memory> memory_;  // empty: it has executed
};

struct Starting {
  Spawned process;
  Startup startup;
};

// As spawn(), but goes on while the process is on its way to its program. `environment` is to live as long.
Result<Starting> begin_spawn(const OwnProcess& right, const std::string& program,
                             std::vector<std::string> arguments, std::vector<int> fds,
                             char* const* environment = nullptr);

// Executes `program`, which is one of Cloche's own, with these arguments, an empty environment unless one is
// given, and `fds[i]` as descriptor i; nothing else is open.
Result<Spawned> spawn(const OwnProcess& right, const std::string& program, std::vector<std::string> arguments,
                      std::vector<int> fds, char* const* environment = nullptr);

}  // namespace cloche
