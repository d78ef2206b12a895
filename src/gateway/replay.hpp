// A record judged again under other permission rules: which past verdicts would change. Pure over what the
// lines say; the other gates keep the answers they gave then.
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
  std::string args = {};             // JSON, as asked
  std::string runs = {};             // the command that ran; empty: none
  Decision rules = Decision::deny;   // what the rules said
  Decision others = Decision::deny;  // the strictest of the other gates, approval aside
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
