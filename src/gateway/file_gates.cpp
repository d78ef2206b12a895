#include "gateway/file_gates.hpp"

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
  if (!c.intent.problem.empty())
    return {GateId::rules,
            Decision::deny,
            "the call cannot be read: " + c.intent.problem,
            {},
            how_to_send(c.intent)};
  RuleCall call{c.intent.tool, normalised_arguments(c.intent)};
  if (have_rules(files) && c.intent.form != Intent::Form::none) {
    // Most commands run as they were asked, and are matched once.
    if (const auto argv = final_argv(c, shapes); argv != c.intent.argv) call.runs = quote_words(argv);
  }
  return rules_gate(files, call);
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
