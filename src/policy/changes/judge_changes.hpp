// The judge of changes: what of a change set may reach the project. Pure, and the only one: for what commands
// wrote and for file tools alike.
//
// A change is withheld when the host would execute it later without being asked, when it leads out of the
// trees of the call, gives rights away, is no plain file, or is Cloche's own. The operator's rules come on
// top. What remains of the set fits together: nothing is left without its directory, and no half of a move
// is lost.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/changes/change_facts.hpp"
#include "policy/changes/change_rules.hpp"
#include "policy/changes/consistent_verdicts.hpp"

namespace cloche {

struct JudgedChanges {
  std::vector<ChangeVerdict> verdicts = {};  // one for each change, in their order
  // Why nothing of the set may be committed now, one sentence: it stays whole in the upper layer.
  std::optional<std::string> stage = {};
};

// Of changes that are in the project already: what of them the host would execute, by their order; nothing:
// it would not.
std::vector<std::optional<std::string>> dangers_of(const ChangeSet& set, const ChangeFacts& facts,
                                                   const std::vector<std::string>& allowed);

// Of links that were let through before: those that lead out of the trees of the call by now, by other links
// on their way. By their order.
std::vector<size_t> redirected_links(const ChangeSet& set, const ChangeFacts& facts,
                                     const ChangeRules& rules);

// No verdict is milder than in `so_far`, which is empty or has one for each change.
JudgedChanges judge_changes(const ChangeSet& set, const ChangeFacts& facts, const ChangeRules& rules,
                            const std::vector<ChangeVerdict>& so_far = {});

}  // namespace cloche
