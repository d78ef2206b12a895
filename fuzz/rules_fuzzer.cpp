// Feeds JSON to the reader of rules: {"permissions": ..., "calls": [{"tool", "args"}]}. Whatever is accepted
// must judge as a plain loop over the rules does, and its own examples must hold.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/json/json_text.hpp"
#include "policy/rules/rule_lint.hpp"
#include "policy/rules/rules.hpp"

namespace {

using namespace cloche;

void require(bool truth) {
  if (!truth) std::abort();
}

void check(const RuleFile& file, const RuleCall& call) {
  const Rule* first = nullptr;
  for (const auto& rule : file.rules())
    if (first == nullptr && matches(rule, call)) first = &rule;
  require(file.first_match(call) == first);
  const Verdict verdict = rules_gate({.project = file}, call);
  require(verdict.gate == GateId::rules && verdict.decision >= rules_gate({}, call).decision);
}

RuleCall call_of(const JsonValue& value) {
  RuleCall call{"run_shell"};
  if (const auto* tool = value.find("tool"); tool != nullptr && tool->is_string()) call.tool = tool->text;
  if (const auto* args = value.find("args"))
    for (const auto& member : args->members) call.arguments[member.name] = member.value.text;
  return call;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto json = read_json({reinterpret_cast<const char*>(data), size}, "f");
  if (!json.ok()) return 0;
  const auto file = RuleFile::read(json.value().find("permissions"), "f");
  if (!file.ok()) {
    require(file.error().what.text().starts_with("f:"));
    return 0;
  }
  for (const auto& rule : file.value().rules()) {
    for (const auto& example : rule.match) {
      require(matches(rule, example.call));
      check(file.value(), example.call);
    }
    for (const auto& example : rule.not_match) require(!matches(rule, example.call));
  }
  if (const auto* calls = json.value().find("calls"))
    for (const auto& call : calls->items) check(file.value(), call_of(call));
  for (const auto& finding : lint(file.value())) require(!finding.rule.empty() && !finding.what.empty());
  return 0;
}
