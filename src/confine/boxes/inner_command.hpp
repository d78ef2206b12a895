// The command line of `cloche-jail --inner`: what the jail does inside a box that another program has built
// (bubblewrap, an OCI runtime, or none at all). Whatever the box is, limits, Landlock, the filter and the
// drop of privileges are these same words. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "confine/launch.hpp"
#include "model/plan.hpp"

namespace cloche {

struct InnerOptions {
  std::optional<int> control = {};         // the descriptor for reports; none: no process listens
  int landlock_abi = newest_landlock_abi;  // what files are restricted by; 0: a kernel without it (gVisor)
  std::optional<std::string> report = {};  // or a file in the box that they are left in
  // What stands between the command and the host: a box, nothing but the filter, or nothing at all.
  enum class Around { box, host, nothing_held };
  Around around = Around::box;
  // Processes of the same user that the kernel counts along; nothing: a cgroup counts without them.
  std::optional<uint64_t> others = 0;
  bool becomes = false;  // the box has given it another id than the plan says, and only that one
  std::optional<std::string> given_away = {};  // a directory of the box that the command must not own
  // The box's kernel counts processor time by a clock of its own, in which a process runs on while the host
  // has no processor for it: only the supervisor counts, by what the host says.
  bool processor_by_host = false;
  // Which directory the jail must enter; none in a line that is printed for later use, and on a kernel of the
  // box's own, which numbers files in its own way.
  wire::Identity directory = {};
  bool watched = false;  // no cgroup counts memory: the filter refuses memory that no process need hold
};

// A mode or a mask as shells write it: "022".
std::string octal(unsigned mode);

// A word for a way that carries UTF-8 alone: %XX for each byte that is not ASCII, and for %.
std::string escaped(std::string_view word);

// Everything after the path of the program. The environment is the box's own, so there is no flag for it.
std::vector<std::string> inner_arguments(const ConfinementPlan& plan, const InnerOptions& options);

}  // namespace cloche
