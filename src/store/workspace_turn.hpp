// Who may change a tree while a call runs that somebody has approved by its contents.
//
// An answer covers the bytes of the files that a command names, and the command opens them by their names,
// some time after they were hashed. A call that runs beside it could put other files there meanwhile; no
// mount keeps it from that, because the kernel takes a mount away when the file below it is renamed or
// removed from another mount namespace. So whatever Cloche starts says what it may change, and an approved
// call also says what nobody else may change until it has ended.
//
// How: locks on bytes of one file of Cloche's state, which is in no view. Each directory has three bytes
// there, by its name. They belong to the open file, and so end with the process that holds them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "model/plan.hpp"

namespace cloche {

struct Turn {
  std::vector<std::string> changes = {};  // directories beneath which it may change something, resolved
  std::vector<std::string> alone = {};    // and those beneath which nobody else may meanwhile
};

struct Patience {
  uint64_t most_ms = 0;
  int stop = -1;  // a descriptor that is readable once nobody wants to wait any more; -1: never
  // Called once, when it has taken a second. Empty: nobody wants to know.
  std::function<void(std::string_view why)> waits = {};
};

// Waits until nothing is in the way. To be held until the call has ended; nothing is held for a turn that
// changes nothing. Without a state directory nobody can be alone, and nobody has to make way.
Result<OwnedFd> take_turn(const std::string& state, const Turn& turn, const Patience& patience);

// Where on the host a command of this plan can write, but for what is its own.
std::vector<std::string> trees_changed_by(const ConfinementPlan& plan);

}  // namespace cloche
