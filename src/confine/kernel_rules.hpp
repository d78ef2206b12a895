// What of a plan the kernel is told in the same words whatever the box is: the limits of each process and the
// Landlock rules. Pure.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "confine/native/cgroup.hpp"
#include "jail/core/wire_encode.hpp"
#include "model/plan.hpp"

namespace cloche {

// From the same list as the mounts. Every open walks up through the rules, so one that an outer rule includes
// already is left out; a narrower one inside a wider cannot take away, and there the mount's own flags hold
// alone.
std::vector<wire::RuleText> rules_for(const ConfinementPlan& plan);

// The same where "/" is the host's own and not an empty root: nothing but what the view shows by name. No
// mount keeps its trees apart either, so those that are looked at after the call are marked; and each rule
// says which file was judged.
std::vector<wire::RuleText> shown_rules_for(const ConfinementPlan& plan);

// A cgroup that counts the processes is met before the kernel's own limit: it alone tells of what it refused.
std::vector<wire::Limit> limits_for(const Limits& limits, CountedBy by = CountedBy::watched);
// "nproc" of RLIMIT_NPROC. Empty: it is none of those that limits_for() sets.
std::string_view name_of_resource(uint32_t resource);

// How many files a tmpfs of this size may hold.
uint64_t files_of_memory(uint64_t size_bytes);

}  // namespace cloche
