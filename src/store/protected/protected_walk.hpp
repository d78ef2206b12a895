// The two looks at a tree that a command may write to, for the protected set.
//
// Before: what is there, with when it last changed, and where leads lead. Few directories, breadth first,
// because every call waits for it; of what lies deeper only the leads are looked for (find_leads), and of the
// rest the time of change says whether it is new.
//
// After, when every process of the command is dead: the whole tree, because a new name may be anywhere. A
// change is found by the kernel's time of change (ctime), which no command can set back as it can the time of
// modification. Nothing is followed: each directory is opened beneath its parent, without links, within the
// one mount. Any depth is looked at; names, time and what is set aside for being deep are bounded, and a look
// that met a bound says so: such a tree is not clean.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "model/facts.hpp"
#include "store/protected/leads.hpp"

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

// What was there before a command.
struct TreeFacts {
  std::vector<ProtectedFact> files = {};
  std::vector<LeadFact> leads = {};
  bool is_complete = false;  // there are no others in the tree
};

struct AllLeads {
  std::vector<RememberedLead> leads = {};
  bool is_complete = false;
};

struct BeforeQuery {
  const std::vector<std::string>& hidden;
  const GitSources& git;
  // Finds the leads where this look does not come; asked for when there is such a place.
  const std::function<AllLeads()>& find_others;
  // What the last look knew. Of these the lost ones are followed as well; one that was not lost and that
  // nothing says any more was given up by the host, between two calls.
  const std::vector<RememberedLead>& remembered;
};

// Adds to `found`, and to `held` what is to be shown read-only: at the top of the tree and in the repository
// there. Deeper members are not mounted, because a mount point cannot be removed, and a package manager has
// to replace whole directories that happen to hold one.
Result<void> look_before(const std::string& root, const BeforeQuery& query, TreeFacts& found,
                         std::vector<OwnedFd>& held);

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
  std::string gap = {};                    // why it is not complete; empty: it is
  std::string memory = {};                 // for the next look at this tree; empty: nothing worth keeping
  std::vector<RememberedLead> leads = {};  // likewise: those that there are, and were
  bool has_all_leads = true;               // otherwise there are too many, or some directory is closed
};

// What a command made or changed since `since` that something on the host would execute. `known` is what was
// there before; `remembered` is the memory of an earlier look, by which directories without anything of the
// set in them are not read again.
LookAfter look_after(const HeldRoot& root, const TreeFacts& known, const ChangeTime& since,
                     const LookLimits& limits = {}, std::string_view remembered = {});

// The leads of the whole tree, likewise. Judges and changes nothing.
AllLeads find_leads(const HeldRoot& root, const LookLimits& limits, std::string_view remembered = {});

// Now, as the kernel stamps files.
ChangeTime change_time_now();

}  // namespace cloche
