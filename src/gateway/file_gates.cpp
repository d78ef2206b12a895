#include "gateway/file_gates.hpp"

#include <algorithm>

#include "base/json_text.hpp"
#include "policy/gates.hpp"
#include "store/settings.hpp"
#include "tools/run_shell.hpp"

namespace cloche {
namespace {

bool have_rules(const RuleFiles& files) { return files.managed || files.user || files.project; }

}  // namespace

Result<ConfigFiles> config_for(const Environment& environment, const std::string& workspace) {
  return read_config_files(TRY(config_paths(environment, workspace)), settings_keys());
}

Result<RuleFiles> rules_for(const Environment& environment, const std::string& workspace) {
  const ConfigFiles files = TRY(config_for(environment, workspace));
  TRY(settings_of(files));  // what nobody can read refuses, whether or not it matters here
  return rules_of(files, canonical_command);
}

Result<RuleFile> rules_in(std::string_view text, const std::string& path) {
  const ConfigFile file = TRY(parse_config(text, path, settings_keys()));
  return RuleFile::read(file.root.find("permissions"), path, canonical_command);
}

Verdict rules_verdict(const RuleFiles& files, const Case& c, const Shapes& shapes) {
  if (!c.intent.problem.empty()) {
    Verdict verdict{GateId::rules, Decision::deny, "the call cannot be read: " + c.intent.problem};
    verdict.instead = how_to_send(c.intent);
    return verdict;
  }
  RuleCall call{c.intent.tool, normalised_arguments(c.intent)};
  if (have_rules(files) && c.intent.form != Intent::Form::none) {
    // Most commands run as they were asked, and are matched once.
    if (const auto argv = final_argv(c, shapes); argv != c.intent.argv) call.runs = quote_words(argv);
  }
  return rules_gate(files, call);
}

Result<RuleCall> rule_call(const ToolCall& asked) {
  RuleCall call{.tool = asked.tool};
  const JsonValue arguments = TRY(read_json(asked.arguments, "", {.bytes = size_t{16} << 20}));
  for (const auto& member : arguments.members)
    call.arguments[member.name] = member.value.is_string() ? member.value.text : to_json(member.value);
  return call;
}

Result<Verdict> rules_verdict_by_name(const RuleFiles& files, const ToolCall& named,
                                      const std::string& judged_tool) {
  if (!have_rules(files)) return Verdict{GateId::rules, Decision::allow, "no permission rules are set"};
  return rules_by_other_name(files, TRY(rule_call(named)), judged_tool);
}

Verdict stricter(Verdict one, Verdict other) {
  const Approvers approvers = std::max(one.approvers, other.approvers);
  Verdict strict = other.decision > one.decision ? std::move(other) : std::move(one);
  if (strict.decision == Decision::ask) strict.approvers = approvers;
  return strict;
}

Verdict rules_verdict_of_run(const RuleFiles& files, const std::vector<std::string>& argv) {
  // An operator's words may be any bytes; only patterns need them to be text.
  if (!have_rules(files)) return {GateId::rules, Decision::allow, "no permission rules are set"};
  return rules_gate(files, {"run_shell", {{"cmd", quote_words(argv)}}});
}

Result<std::string> canonical_command(std::string_view command) {
  const SplitWords split = split_words(command);
  if (!split.problem.empty()) return refusal("it is no command: " + split.problem);
  return quote_words(split.words);
}

}  // namespace cloche
