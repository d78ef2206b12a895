#include "gateway/changes/judge_set.hpp"

#include <algorithm>

#include "policy/changes/consistent_verdicts.hpp"

namespace cloche {
namespace {

constexpr int most_rounds = 8;

bool comes_in(const ChangeVerdict& verdict) { return verdict.fate != Fate::withheld; }

struct Rest {
  ChangeSet set = {};
  std::vector<size_t> places = {};  // in the whole set
};

Rest rest_of(const ChangeSet& set, const std::vector<ChangeVerdict>& verdicts) {
  Rest rest{.set = {.trees = set.trees}};
  for (size_t i = 0; i < set.changes.size(); ++i) {
    if (!comes_in(verdicts[i])) continue;
    rest.set.changes.push_back(set.changes[i]);
    rest.places.push_back(i);
  }
  return rest;
}

}  // namespace

Result<JudgedChanges> judge_set(const ChangeSet& set, const std::vector<TreeLayers>& layers,
                                const GitSources& git, const ChangeRules& rules,
                                const ChangeFactLimits& limits) {
  const ChangeFacts facts = TRY(look_around_changes(set, layers, git, limits));
  if (facts.too_much) return JudgedChanges{.stage = facts.too_much};
  JudgedChanges judged = judge_changes(set, facts, rules);
  for (int round = 0; round < most_rounds; ++round) {
    const Rest rest = rest_of(set, judged.verdicts);
    if (judged.stage || rest.places.size() == set.changes.size() || rest.places.empty()) return judged;
    const ChangeFacts beside = TRY(look_around_changes(rest.set, layers, git, limits));
    if (beside.too_much) return JudgedChanges{.stage = beside.too_much};
    const JudgedChanges again = judge_changes(rest.set, beside, rules);
    bool is_stricter = false;
    for (size_t i = 0; i < rest.places.size(); ++i) {
      const ChangeVerdict& verdict = again.verdicts[i];
      is_stricter = is_stricter || !comes_in(verdict);
      tighten(judged.verdicts[rest.places[i]], verdict.fate, verdict.reason, verdict.rule);
    }
    if (!is_stricter) return judged;
    judged = judge_changes(set, facts, rules, judged.verdicts);
  }
  judged.stage = "what is withheld of it changes what the rest of it means, too many times over";
  return judged;
}

const ChangeVerdict* most_telling_question(const std::vector<ChangeVerdict>& verdicts) {
  const ChangeVerdict* found = nullptr;
  for (const ChangeVerdict& verdict : verdicts) {
    if (verdict.fate != Fate::asked) continue;
    if (!follows_from_another(verdict)) return &verdict;
    if (found == nullptr) found = &verdict;
  }
  return found;
}

}  // namespace cloche
