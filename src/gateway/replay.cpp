#include "gateway/replay.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "gateway/configuration/rule_gate.hpp"
#include "policy/gates/decide.hpp"
#include "store/record/run_log.hpp"
#include "tools/commands/run_shell.hpp"
#include "tools/commands/scripts.hpp"

namespace cloche {
namespace {

// What cannot be read counts as the strictest.
Decision decision_in(const JsonValue& verdict) {
  const std::string said = text_of(verdict, "decision");
  for (auto decision : {Decision::allow, Decision::ask}) {
    if (said == name_of(decision)) return decision;
  }
  return Decision::deny;
}

// What is not known counts as what comes first: a refusal there outweighs every other.
GateId gate_in(const JsonValue& verdict) {
  const std::string said = text_of(verdict, "gate");
  for (int gate = 0; gate <= static_cast<int>(GateId::approval); ++gate) {
    if (said == name_of(static_cast<GateId>(gate))) return static_cast<GateId>(gate);
  }
  return GateId::loadout;
}

// Of `cloche run`.
Verdict rules_on_command(const JsonValue& arguments, const RuleFiles& rules) {
  std::vector<std::string> argv;
  if (const JsonValue* words = arguments.find("argv")) {
    for (const auto& word : words->items) argv.push_back(word.text);
  }
  return rules_verdict_of_run(rules, argv);
}

// As the rules see it; of a tool that is not known here every argument by its name.
Verdict rules_again(const PastCall& call, const RuleFiles& rules, const Registry& registry) {
  const ToolCall asked{call.tool, call.args};
  const ReadArguments arguments = read_arguments(asked);
  if (call.role == "operator" && call.tool == "run") return rules_on_command(arguments.value, rules);
  Intent intent = registry.understand(asked, arguments, "/");
  if (intent.tool.empty()) {
    RuleCall seen{call.tool};
    for (const auto& member : arguments.value.members)
      seen.arguments[member.name] = member.value.is_string() ? member.value.text : to_json(member.value);
    return rules_gate(rules, seen);
  }
  if (intent.problem.empty() && intent.shell_text) run_as_script(intent);
  std::optional<std::string> runs;
  if (intent.form != Intent::Form::none && !call.runs.empty()) runs = call.runs;
  return rules_on_intent(rules, intent, std::move(runs));
}

}  // namespace

std::optional<PastCall> past_call(const JsonValue& line) {
  const JsonValue* verdicts = line.find("verdicts");
  const JsonValue* args = line.find("args");
  if (verdicts == nullptr || args == nullptr || text_of(line, "call_id").empty()) return std::nullopt;
  PastCall call{.call_id = text_of(line, "call_id"),
                .task_id = text_of(line, "task_id"),
                .tool = text_of(line, "tool"),
                .role = text_of(line, "role"),
                .args = args->is_string() ? args->text : to_json(*args),
                .runs = text_of(line, "runs")};
  for (const auto& verdict : verdicts->items) {
    const GateId gate = gate_in(verdict);
    if (gate == GateId::approval) continue;  // an answer to a question that may not be asked again
    call.gates.push_back({gate, decision_in(verdict)});
  }
  return call;
}

std::optional<ChangedVerdict> judge_again(const PastCall& call, const RuleFiles& rules,
                                          const Registry& registry) {
  ChangedVerdict changed{call, Decision::deny, Decision::deny, rules_again(call, rules, registry)};
  std::vector<Verdict> gates = call.gates;
  std::erase_if(gates, [](const Verdict& verdict) { return verdict.gate == GateId::rules; });
  gates.push_back(changed.rules);
  changed.before = call.gates.empty() ? Decision::allow : judgement_of(call.gates, {}).decision;
  changed.after = judgement_of(std::move(gates), {}).decision;
  return changed.after == changed.before ? std::nullopt : std::optional(std::move(changed));
}

Result<Replay> replay(const std::string& which, const std::string& state, const RuleFiles& rules) {
  const Registry registry = TRY(Registry::make({}, Registry::Record::kept));
  Replay result;
  const auto visit = [&](const JsonValue& line, std::string_view) {
    const auto call = past_call(line);
    if (!call) return;
    ++result.calls;
    if (auto changed = judge_again(*call, rules, registry)) result.changed.push_back(std::move(*changed));
  };
  if (struct stat seen{}; ::stat(which.c_str(), &seen) == 0 && S_ISREG(seen.st_mode)) {
    TRY(visit_lines(which, visit));
  } else {
    TranscriptFollower transcripts(TRY(find_run(which, state)), "");
    TRY(transcripts.read_on(visit));
    result.unreadable_lines = transcripts.unreadable_lines();
  }
  std::stable_sort(result.changed.begin(), result.changed.end(), [](const auto& a, const auto& b) {
    const std::string& first = a.call.call_id;  // c-0009 before c-10000
    const std::string& second = b.call.call_id;
    return first.size() != second.size() ? first.size() < second.size() : first < second;
  });
  return result;
}

}  // namespace cloche
