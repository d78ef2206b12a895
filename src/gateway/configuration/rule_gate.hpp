// What stands on the configuration's text: the files of a workspace, and the gate of their permission rules.
#pragma once

#include <string>

#include "base/result.hpp"
#include "base/sys/environment.hpp"
#include "model/call.hpp"
#include "policy/rules/rules.hpp"
#include "policy/shapes/shapes.hpp"
#include "store/config/rule_files.hpp"

namespace cloche {

// The files for this workspace, of whose keys none is unknown.
Result<ConfigFiles> config_for(const Environment& environment, const std::string& workspace);

// The rules in the text of one configuration file, read as they are for a call.
Result<RuleFile> rules_in(std::string_view text, const std::string& path);

// The rules' word on a tool call, as it was asked and as it will run. Its other facts come with the case.
Verdict rules_verdict(const RuleFiles& files, const Case& c, const Shapes& shapes);
// The same of a call whose argv is not known; `runs` is what ran, where that is
// not what was asked.
Verdict rules_on_intent(const RuleFiles& files, const Intent& intent, std::optional<std::string> runs = {});
// The rules' word on it by the agent's own name for it, where it is judged as
// this intent of our tool.
Result<Verdict> rules_verdict_by_name(const RuleFiles& files, const ToolCall& named, const Intent& judged);
// A call by its name and its words alone.
Result<RuleCall> rule_call(const ToolCall& asked);
// Of two verdicts of one gate; of two that ask, who may answer is the stricter as well.
Verdict stricter(Verdict one, Verdict other);
// Of `cloche run`, by the rules for run_shell: what a model may not run, an operator does not run by
// accident.
Verdict rules_verdict_of_run(const RuleFiles& files, const std::vector<std::string>& argv);

// The canonical quoting of a command text, as rules see it.
Result<std::string> canonical_command(std::string_view command);

}  // namespace cloche
