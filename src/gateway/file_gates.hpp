// The two gates that stand on text: a tool's schema and the operator's rules. Their verdicts go into the
// case.
#pragma once

#include <string>

#include "base/environment.hpp"
#include "base/result.hpp"
#include "model/call.hpp"
#include "policy/rules.hpp"

namespace cloche {

Verdict schema_verdict(const ToolCall& call, const Intent& intent);

// The rules for this workspace. A file that cannot be read or says something unknown is an error: no call
// passes.
Result<RuleFiles> rules_for(const Environment& environment, const std::string& workspace);

// The rules in the text of one configuration file, read as they are for a call.
Result<RuleFile> rules_in(std::string_view text, const std::string& path);

Verdict rules_verdict(const RuleFiles& files, const Intent& intent);
// Of `cloche run`, by the rules for run_shell: what a model may not have run, nobody runs by accident.
Verdict rules_verdict_of_run(const RuleFiles& files, const std::vector<std::string>& argv);

// The canonical quoting of a command text, as rules see it.
Result<std::string> canonical_command(std::string_view command);

}  // namespace cloche
