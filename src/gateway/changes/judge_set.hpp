// A change set is judged as it would come into the project. What is withheld stays as it was before the call,
// and the rest may mean something else beside that than beside what the call left: so the rest is judged
// again, until nothing more of it is withheld.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "policy/changes/judge_changes.hpp"
#include "store/changes/change_facts.hpp"

namespace cloche {

// Without verdicts where a bound was met: then `stage` says which.
Result<JudgedChanges> judge_set(const ChangeSet& set, const std::vector<TreeLayers>& layers,
                                const GitSources& git, const ChangeRules& rules,
                                const ChangeFactLimits& limits = {});

// What an operator is asked first of all: what is asked about for itself, before what only follows from that.
// Null: nothing is asked.
const ChangeVerdict* most_telling_question(const std::vector<ChangeVerdict>& verdicts);

}  // namespace cloche
