#include "gateway/file_gates.hpp"

#include "policy/gates.hpp"
#include "policy/json_schema.hpp"
#include "store/rule_files.hpp"
#include "tools/run_shell.hpp"

namespace cloche {
namespace {

constexpr std::string_view honoured_keys[] = {"permissions"};

Result<JsonSchema> compile_schema() {
  const JsonValue schema = TRY(read_json(run_shell_schema(), "run_shell"));
  return JsonSchema::compile(schema, "run_shell");
}

}  // namespace

Verdict schema_verdict(const ToolCall& call, const Intent& intent) {
  const auto deny = [&](std::string why) {
    return Verdict{GateId::schema, Decision::deny, std::move(why), {}, how_to_send(intent)};
  };
  if (intent.tool != "run_shell") return deny("there is no schema for " + shown(call.tool, 60));
  const auto arguments = read_json(call.arguments, "arguments", call_limits);
  if (!arguments.ok()) return deny(arguments.error().what);
  static const Result<JsonSchema> schema = compile_schema();
  if (!schema.ok()) return deny(schema.error().what);
  if (const auto fault = schema.value().check(arguments.value())) {
    // Of the value as a whole a schema can only say that it does not fit; the tool knows what is missing.
    const bool of_the_whole = fault->pointer.empty() && !intent.problem.empty();
    return deny(of_the_whole ? intent.problem : shown(fault->describe()));
  }
  return {GateId::schema, Decision::allow};
}

Result<RuleFiles> rules_for(const Environment& environment, const std::string& workspace) {
  const ConfigPaths paths = TRY(config_paths(environment, workspace));
  const ConfigFiles files = TRY(read_config_files(paths, honoured_keys));
  return rules_of(files, canonical_command);
}

Result<RuleFile> rules_in(std::string_view text, const std::string& path) {
  const ConfigFile file = TRY(parse_config(text, path, honoured_keys));
  return RuleFile::read(file.root.find("permissions"), path, canonical_command);
}

Verdict rules_verdict(const RuleFiles& files, const Intent& intent) {
  if (!intent.problem.empty())
    return {
        GateId::rules, Decision::deny, "the call cannot be read: " + intent.problem, {}, how_to_send(intent)};
  return rules_gate(files, {intent.tool, normalised_arguments(intent)});
}

Verdict rules_verdict_of_run(const RuleFiles& files, const std::vector<std::string>& argv) {
  // An operator's words may be any bytes; only patterns need them to be text.
  if (!files.managed && !files.user && !files.project)
    return {GateId::rules, Decision::allow, "no permission rules are set"};
  return rules_gate(files, {"run_shell", {{"cmd", quote_words(argv)}}});
}

Result<std::string> canonical_command(std::string_view command) {
  const SplitWords split = split_words(command);
  if (!split.problem.empty()) return refusal("it is no command: " + split.problem);
  return quote_words(split.words);
}

}  // namespace cloche
