#include "gateway/configuration/rule_gate.hpp"

#include <algorithm>

#include "base/json/json_text.hpp"
#include "base/text/shell_parts.hpp"
#include "policy/gates/gates.hpp"
#include "store/config/settings.hpp"
#include "tools/commands/run_shell.hpp"

namespace cloche {
namespace {

bool have_rules(const RuleFiles& files) { return files.managed || files.user || files.project; }

}  // namespace

Result<ConfigFiles> config_for(const Environment& environment, const std::string& workspace) {
  return read_config_files(TRY(config_paths(environment, workspace)), settings_keys());
}

Result<RuleFile> rules_in(std::string_view text, const std::string& path) {
  const ConfigFile file = TRY(parse_config(text, path, settings_keys()));
  return RuleFile::read(file.root.find("permissions"), path, canonical_command);
}

Verdict rules_verdict(const RuleFiles& files, const Case& c, const Shapes& shapes) {
  if (!c.intent.problem.empty())
    return deny(GateId::rules, "the call cannot be read: " + c.intent.problem, how_to_send(c.intent));
  std::optional<std::string> runs;
  if (have_rules(files) && c.intent.form != Intent::Form::none) {
    // Most commands run as they were asked, and are matched once.
    if (const auto argv = final_argv(c, shapes); argv != c.intent.argv) runs = quote_words(argv);
  }
  return rules_on_intent(files, c.intent, std::move(runs));
}

namespace {

// The text of an opaque call, with its commands or what may be such. None: there are too many.
std::optional<OpaqueText> opaque_text(const Intent& intent, std::string text) {
  OpaqueText opaque{.text = std::move(text)};
  if (intent.parts) {
    opaque.parts.emplace();
    for (const auto& argv : *intent.parts) opaque.parts->push_back(quote_words(argv));
  } else if (intent.shells) {
    auto pieces = shell_pieces(opaque.text);
    if (!pieces) return std::nullopt;
    opaque.pieces = *std::move(pieces);
  }
  return opaque;
}

Verdict too_much() {
  return {.gate = GateId::rules,
          .decision = Decision::deny,
          .reason = "the text has more commands than rules can judge",
          .instead = "send less at once"};
}

// Whichever tool of ours runs a shell's text, the rules about the others' text
// count as well: nothing passes by being sent to another one.
std::vector<TextReading> voices_of(const Intent& intent) {
  using Weight = TextReading::Weight;
  RuleCall called{intent.tool, normalised_arguments(intent)};
  called.arguments.erase(intent.text_argument);
  std::vector<TextReading> voices = {{called, intent.text_argument, Weight::whole}};
  if (!intent.shells) return voices;
  if (intent.tool == "run_shell") {
    RuleCall script{"run_script", called.arguments};
    script.arguments["interpreter"] = "bash";
    voices.push_back({std::move(script), "code", Weight::by_name, intent.tool});
  } else {
    RuleCall line{"run_shell", {{"cwd", called.arguments["cwd"]}, {"profile", "any"}}};
    voices.push_back({std::move(line), "cmd", Weight::text_only, intent.tool});
  }
  return voices;
}

}  // namespace

Verdict rules_on_intent(const RuleFiles& files, const Intent& intent, std::optional<std::string> runs) {
  if (intent.text_argument.empty() || !intent.problem.empty())
    return rules_gate(files, {intent.tool, normalised_arguments(intent), std::move(runs)});
  if (!have_rules(files)) return {GateId::rules, Decision::allow, "no permission rules are set"};
  const auto arguments = normalised_arguments(intent);
  const auto text = arguments.find(intent.text_argument);
  const auto opaque = opaque_text(intent, text == arguments.end() ? "" : text->second);
  return opaque ? rules_on_text(files, voices_of(intent), *opaque) : too_much();
}

Result<RuleCall> rule_call(const ToolCall& asked) {
  RuleCall call{.tool = asked.tool};
  const JsonValue arguments = TRY(read_json(asked.arguments, "", {.bytes = size_t{16} << 20}));
  for (const auto& member : arguments.members)
    call.arguments[member.name] = member.value.is_string() ? member.value.text : to_json(member.value);
  return call;
}

Result<Verdict> rules_verdict_by_name(const RuleFiles& files, const ToolCall& named, const Intent& judged) {
  if (!have_rules(files)) return Verdict{GateId::rules, Decision::allow, "no permission rules are set"};
  RuleCall call = TRY(rule_call(named));
  if (starts_somewhere(judged)) call.arguments.try_emplace("cwd", judged.cwd.value_or(judged.starts_in));
  const Verdict whole = rules_by_other_name(files, call, judged.tool);
  if (!judged.shells || !judged.problem.empty()) return whole;
  // The same text under the agent's name for it: its parts are judged by that
  // name, too.
  const auto ours = normalised_arguments(judged);
  const auto text = ours.find(judged.text_argument);
  if (text == ours.end()) return whole;
  for (const auto& [name, value] : RuleArguments(call.arguments)) {
    if (value != text->second) continue;
    const auto opaque = opaque_text(judged, value);
    if (!opaque) return too_much();
    RuleCall rest = call;
    rest.arguments.erase(name);
    return stricter(
        whole,
        rules_on_text(files, {{std::move(rest), name, TextReading::Weight::by_name, judged.tool}}, *opaque));
  }
  return whole;
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
  // What a shell runs is judged as it is written.
  if (has_lines(command) && problem_of_lines(command).empty()) return std::string(command);
  if (has_tab_in_word(command)) return std::string(command);
  const SplitWords split = split_words(command);
  if (!split.problem.empty()) return refusal("it is no command: " + split.problem);
  if (!split.operators.empty() || is_shell_word(split.words.front())) return std::string(command);
  return quote_words(split.words);
}

}  // namespace cloche
