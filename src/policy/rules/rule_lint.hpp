// Which rules can never decide, and which say more than they seem to. Patterns are compared by their letters
// alone, so that it misses some; what it reports is so.
#pragma once

#include <string>
#include <vector>

#include "policy/gates/tool_arguments.hpp"
#include "policy/rules/rules.hpp"

namespace cloche {

struct RuleFinding {
  enum class Weight { note, fault };

  std::string rule;  // "id file:line"
  std::string what;
  Weight weight = Weight::fault;
};

// Faults: rules that can never decide, because they name what no tool has or because one before them always
// does.
// Notes: patterns that say more than they seem to, examples that another rule decides, and names that only a
// tool of the user's can have. `own` are those of them that are known.
std::vector<RuleFinding> lint(const RuleFile& file, const std::vector<ToolArguments>& own = {});

}  // namespace cloche
