// Locks that keep other calls from changing a tree while an approved call runs in it.
//
// An approval covers the bytes of the files that a command names, and the command opens them by their names,
// some time after they were hashed. A call that runs beside it could put other files there meanwhile. No
// mount prevents that: the kernel takes a mount away when the file below it is renamed or removed from
// another mount namespace. So each call says what it may change, and an approved call also says what no other
// call may change until it has ended.
//
// The locks are on bytes of one file of Cloche's state, which is in no view. Each directory has three bytes
// there, found by its name. A lock belongs to the open file, and so ends with the process that holds it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "policy/plan/concurrent_calls.hpp"

namespace cloche {

struct WorkspaceClaim {
  std::vector<std::string> changes = {};  // directories beneath which it may change something, resolved
  std::vector<std::string> alone = {};    // and those beneath which no other call may meanwhile
};

struct Patience {
  uint64_t most_ms = 0;
  int stop = -1;  // a descriptor that becomes readable when the call is cancelled; -1: it cannot be
  // Told why the call waits, once, after a second. May be empty.
  std::function<void(std::string_view why)> waits = {};
};

// Waits until no other call is in the way. To be held until the call has ended; nothing is held for a claim
// that changes nothing. Without a state directory no call can be alone, and none has to wait.
Result<OwnedFd> lock_workspaces(const std::string& state, const WorkspaceClaim& claim,
                                const Patience& patience);

// Tries again and again, often at first, because calls are short and the kernel has no lock with a time
// limit. `try_to_hold` says whether it holds the lock now.
Result<void> wait_for_lock(const std::function<Result<bool>()>& try_to_hold, WaitsFor what,
                           const Patience& patience);

}  // namespace cloche
