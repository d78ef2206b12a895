// A record judged again under other permission rules: which past decisions would change. The new verdict of
// the rules and the recorded verdicts of the other gates come to a decision as those of a new call do
// (judgement_of() in policy/gates/decide.hpp). The other gates cannot be asked again: a line has neither the
// files nor the configuration that they judged by.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json/json_text.hpp"
#include "base/result.hpp"
#include "model/verdict.hpp"
#include "policy/rules/rules.hpp"
#include "tools/registry.hpp"

namespace cloche {

struct PastCall {
  std::string call_id = {};
  std::string task_id = {};
  std::string tool = {};
  std::string role = {};
  std::string args = {};            // JSON, as asked
  std::string runs = {};            // the command that ran; empty: none
  std::vector<Verdict> gates = {};  // as recorded, without the gate of approval
};
// Nothing when the line is no call's.
std::optional<PastCall> past_call(const JsonValue& line);

struct ChangedVerdict {
  PastCall call;
  Decision before = Decision::deny;
  Decision after = Decision::deny;
  Verdict rules;  // what the new ones say
};
std::optional<ChangedVerdict> judge_again(const PastCall& call, const RuleFiles& rules,
                                          const Registry& registry);

struct Replay {
  size_t calls = 0;
  size_t unreadable_lines = 0;
  std::vector<ChangedVerdict> changed = {};
};
// `which` is a run's id, "last", its directory, or one transcript.
Result<Replay> replay(const std::string& which, const std::string& state, const RuleFiles& rules);

}  // namespace cloche
