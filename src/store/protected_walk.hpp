// The two looks at a tree that a command may write to, for the protected set.
//
// Before: what is there, with when it last changed. Few directories, breadth first, because every call waits
// for it; what lies deeper is not known, and then only its time of change says whether it is new.
//
// After, when every process of the command is dead: the whole tree, because a new name may be anywhere. A
// change is found by the kernel's time of change (ctime), which no command can set back as it can the time of
// modification. Nothing is followed: each directory is opened beneath its parent, without links, within the
// one mount. Any depth is looked at; names, time and what is set aside for being deep are bounded, and a look
// that met a bound says so: such a tree is not clean.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "model/facts.hpp"

namespace cloche {

struct LookLimits {
  size_t depth = 100;  // of directories held open at once; what is deeper is set aside, and looked at later
  size_t set_aside_bytes = size_t{64} << 20;  // of the paths to these
  uint64_t names = 4'000'000;
  uint64_t milliseconds = 60'000;
  size_t fewest_remembered = 32;         // directories; fewer are read as fast as their memory
  std::vector<std::string> hidden = {};  // directories that were not in the command's view
  size_t suspects = 10'000;
  bool opens_closed = true;  // lets the owner into a directory again that was closed since then
  GitSources git = {};
};

// Adds to `found`, and to `held` what is to be shown read-only: at the top of the tree and in the repository
// there. Deeper members are not mounted, because a mount point cannot be removed, and a package manager has
// to replace whole directories that happen to hold one.
Result<void> look_before(const std::string& root, std::vector<ProtectedFact>& found,
                         std::vector<OwnedFd>& held, const std::vector<std::string>& hidden = {},
                         const GitSources& git = {});

struct HeldRoot {
  std::string path;  // absolute, resolved
  OwnedFd fd;
};

struct Suspect {
  std::string path;  // relative to the root
  std::string reason;
};

struct LookAfter {
  std::vector<Suspect> suspects = {};
  std::string gap = {};     // why it is not complete; empty: it is
  std::string memory = {};  // for the next look at this tree; empty: nothing worth keeping
};

// What a command made or changed since `since` that something on the host would execute. `known` is what was
// there before; `remembered` is the memory of an earlier look, by which directories without anything of the
// set in them are not read again.
LookAfter look_after(const HeldRoot& root, const std::vector<ProtectedFact>& known, const ChangeTime& since,
                     const LookLimits& limits = {}, std::string_view remembered = {});

// Now, as the kernel stamps files.
ChangeTime change_time_now();

}  // namespace cloche
