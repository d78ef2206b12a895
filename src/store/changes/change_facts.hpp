// Looks up what the judge of changes has to know (policy/changes/change_facts.hpp). What it costs goes with
// the number of changes, their depth and the size of the directories that hold them, never with the size of
// the trees. Follows no link and opens nothing but by descriptors of the two layers; what git's own
// configurations outside of the trees say is read by path.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "model/change_set.hpp"
#include "model/facts.hpp"
#include "policy/changes/change_facts.hpp"
#include "store/changes/before_and_after.hpp"

namespace cloche {

struct ChangeFactLimits {
  size_t directories = 200'000;           // that were there and hold a change, or lead to one
  uint64_t names = 4'000'000;             // in these
  size_t texts = 20'000;                  // configurations and pointers of git
  uint64_t digested_bytes = 64ULL << 20;  // of members, to see that they only moved; beyond they did not
  uint64_t until_ms = ~uint64_t{0};       // by sys::monotonic_ms()
};

// One pair of layers for each tree of the set, in the same order. A bound that is met is a fact: too_much.
Result<ChangeFacts> look_around_changes(const ChangeSet& set, const std::vector<TreeLayers>& layers,
                                        const GitSources& git, const ChangeFactLimits& limits = {});

}  // namespace cloche
