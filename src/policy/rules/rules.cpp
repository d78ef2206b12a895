#include "policy/rules/rules.hpp"

#include <algorithm>

#include "base/json/json_writer.hpp"
#include "base/text/command_words.hpp"
#include "policy/rules/globs.hpp"
#include "policy/rules/pattern.hpp"

namespace cloche {
namespace {

constexpr std::string_view shell_tool = "run_shell";
constexpr std::string_view shell_alias = "run_shell_command";
constexpr size_t longest_text = 4 << 20;
constexpr size_t most_matching_cost = 500'000'000;
constexpr size_t short_text = 500;

// The operator's own words, or that there is such a rule: not what it looks for.
std::string explain(const Rule& rule) {
  if (!rule.reason.empty()) return rule.reason;
  switch (rule.action) {
    case Decision::allow: return "a rule of the operator's allows it";
    case Decision::ask: return "a rule of the operator's wants it asked about";
    case Decision::deny: break;
  }
  return "it is against a rule of the operator's";
}

std::string instead_of(Decision decision) {
  if (decision == Decision::allow) return {};
  return std::string(decision == Decision::ask ? needs_the_user : forbidden_by_operator);
}

// What the rule looks for.
std::string content_of(const Rule& rule) {
  std::string text = std::string(name_of(rule.action)) + " for " + rule.tool;
  for (const auto& argument : rule.arguments) text += ", " + argument.name + " matching " + argument.pattern;
  return text;
}

std::string remedy(const Rule& rule, const std::string& where) {
  const std::string here = where + ", which says " + shown(content_of(rule), 200);
  switch (rule.action) {
    case Decision::allow: return {};
    case Decision::ask:
      return (rule.approvers == Approvers::operator_alone ? "let the operator answer by `cloche approve`"
                                                          : "answer when asked") +
             std::string(", or allow it by a rule before ") + here;
    case Decision::deny: break;
  }
  return "change " + here;
}

// Aliases resolved; nullopt when two arguments come down to one name, because then it is not known which
// counts.
std::optional<RuleCall> canonical(const RuleCall& call) {
  RuleCall result{.tool = std::string(canonical_tool(call.tool)), .runs = call.runs};
  for (const auto& [name, text] : call.arguments)
    if (!result.arguments.emplace(canonical_argument(result.tool, name), text).second) return std::nullopt;
  return result;
}

// All patterns of a file together have a million instructions at most, so that shorter calls need no look.
bool is_large(const RuleCall& call) {
  return std::ranges::any_of(call.arguments,
                             [](const auto& argument) { return argument.second.size() > short_text; });
}

// Whether a file has a rule about this tool that looks at arguments.
bool has_patterns_for(const RuleFile& file, std::string_view tool) {
  return std::ranges::any_of(file.rules(), [&](const Rule& rule) {
    return !rule.arguments.empty() && tool_matches(rule.tool, tool);
  });
}

bool have_patterns_for(const RuleFiles& files, std::string_view tool) {
  const std::initializer_list<const std::optional<RuleFile>*> all = {&files.managed, &files.user,
                                                                     &files.project};
  return std::ranges::any_of(all, [&](const auto* file) { return *file && has_patterns_for(**file, tool); });
}

// What no pattern can be trusted to see through.
std::optional<Verdict> refuse_text(const RuleFiles& files, std::string_view tool, std::string_view name,
                                   std::string_view text) {
  if ((!is_utf8(text) || !is_utf8(name)) && have_patterns_for(files, tool))
    return deny(GateId::rules, "an argument is not UTF-8, so patterns cannot judge it", "send it as UTF-8");
  if (text.size() > longest_text)
    return deny(GateId::rules, "the argument " + shown(name, 60) + " is too long to be judged by rules",
                "send less at once");
  return std::nullopt;
}

std::optional<Verdict> refuse_unjudgeable(const RuleFiles& files, const RuleCall& call) {
  if (!is_tool_pattern(call.tool) || is_glob(call.tool))
    return deny(GateId::rules, "the tool has a name that no tool can have", "call a tool by its name");
  for (const auto& [name, text] : call.arguments)
    if (auto refused = refuse_text(files, call.tool, name, text)) return refused;
  return call.runs ? refuse_text(files, call.tool, "cmd", *call.runs) : std::nullopt;
}

bool looks_at(const Rule& rule, std::string_view tool, std::string_view argument) {
  return std::ranges::any_of(rule.arguments, [&](const ArgumentPattern& one) {
    return canonical_argument(tool, one.name) == argument;
  });
}

RuleCall with_text(const TextReading& reading, const std::string& text) {
  RuleCall call = reading.call;
  call.arguments[reading.argument] = text;
  return call;
}

bool is_found(const ArgumentPattern& argument, const RuleCall& call) {
  const std::string_view name = canonical_argument(call.tool, argument.name);
  const auto asked = call.arguments.find(name);
  if (asked == call.arguments.end()) return false;
  return found_in(*argument.compiled, asked->second) ||
         (call.runs && name == "cmd" && found_in(*argument.compiled, *call.runs));
}

}  // namespace

std::string_view canonical_tool(std::string_view tool) { return tool == shell_alias ? shell_tool : tool; }

std::string_view canonical_argument(std::string_view tool, std::string_view argument) {
  return canonical_tool(tool) == shell_tool && argument == "command" ? "cmd" : argument;
}

bool tool_matches(std::string_view pattern, std::string_view tool) {
  if (!is_glob(pattern)) return pattern == tool;
  return glob_matches(pattern, tool) || (tool == shell_tool && glob_matches(pattern, shell_alias));
}

bool matches(const Rule& rule, const RuleCall& call) {
  if (!tool_matches(rule.tool, call.tool)) return false;
  return std::ranges::all_of(rule.arguments,
                             [&](const ArgumentPattern& argument) { return is_found(argument, call); });
}

// A rule can only match where the pattern of its first argument does.
struct RuleFile::FirstPatterns {
  struct Group {
    std::vector<uint32_t> rules;
    PatternSet patterns;

    void add_found(std::string_view text, std::vector<uint32_t>& candidates) const;
  };
  std::vector<uint32_t> without_arguments;
  std::map<std::string, Group> by_argument;
};

std::shared_ptr<const RuleFile::FirstPatterns> RuleFile::first_patterns_of(const std::vector<Rule>& rules) {
  auto first = std::make_shared<FirstPatterns>();
  std::map<std::string, std::vector<uint32_t>> numbers;
  for (uint32_t i = 0; i < rules.size(); ++i)
    (rules[i].arguments.empty() ? first->without_arguments : numbers[rules[i].arguments[0].name])
        .push_back(i);
  for (auto& [name, list] : numbers) {
    std::vector<std::shared_ptr<const RE2>> patterns;
    for (uint32_t number : list) patterns.push_back(rules[number].arguments[0].compiled);
    first->by_argument.emplace(name, FirstPatterns::Group{std::move(list), PatternSet(patterns)});
  }
  return first;
}

void RuleFile::FirstPatterns::Group::add_found(std::string_view text,
                                               std::vector<uint32_t>& candidates) const {
  const auto found = patterns.find(text);
  if (!found) {
    candidates.insert(candidates.end(), rules.begin(), rules.end());
    return;
  }
  for (int number : *found) candidates.push_back(rules[static_cast<size_t>(number)]);
}

std::vector<const Rule*> RuleFile::candidates(const RuleCall& call) const {
  if (!first_patterns_) return {};
  std::vector<uint32_t> numbers = first_patterns_->without_arguments;
  for (const auto& [name, group] : first_patterns_->by_argument) {
    const std::string_view argument = canonical_argument(call.tool, name);
    const auto asked = call.arguments.find(argument);
    if (asked == call.arguments.end()) continue;
    group.add_found(asked->second, numbers);
    if (call.runs && argument == "cmd") group.add_found(*call.runs, numbers);
  }
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()),
                numbers.end());  // asked and run may both find one
  std::vector<const Rule*> found;
  for (uint32_t number : numbers) found.push_back(&rules_[number]);
  return found;
}

const Rule* RuleFile::first_match(const RuleCall& call) const {
  for (const Rule* rule : candidates(call))
    if (matches(*rule, call)) return rule;
  return nullptr;
}

size_t matching_cost(const Rule& rule, const RuleCall& call) {
  size_t cost = 0;
  for (const auto& argument : rule.arguments) {
    const auto text = call.arguments.find(canonical_argument(call.tool, argument.name));
    if (text != call.arguments.end())
      cost += static_cast<size_t>(argument.compiled->ProgramSize()) * text->second.size();
  }
  return cost;
}

// Whether the rules about this tool could take longer than the caller can wait: a project's patterns and a
// model's text may both be made for that.
bool RuleFile::is_too_costly(const RuleCall& call) const {
  size_t cost = 0;
  for (const Rule& rule : rules_) {
    if (tool_matches(rule.tool, call.tool)) cost += matching_cost(rule, call);
    if (cost > most_matching_cost) return true;
  }
  return false;
}

Verdict RuleFile::too_costly() const {
  return deny(GateId::rules, "the call is too long to be judged by the operator's rules in time",
              "send less at once", "write simpler patterns in " + source_);
}

Verdict RuleFile::verdict_of(const Rule& rule) const {
  const std::string where = file_line(source_, rule.line);
  return {GateId::rules,       rule.action,    shown(explain(rule), 200), rule.id + " " + where,
          remedy(rule, where), rule.approvers, instead_of(rule.action)};
}

std::optional<Verdict> RuleFile::judge_by_other_name(const RuleCall& call,
                                                     std::string_view judged_tool) const {
  if (!has_opinion_) return std::nullopt;
  if (is_large(call) && is_too_costly(call)) return too_costly();
  for (const Rule* rule : candidates(call))
    if (!tool_matches(rule->tool, judged_tool) && matches(*rule, call)) return verdict_of(*rule);
  return std::nullopt;
}

std::optional<Verdict> RuleFile::judge_text(const TextReading& reading, const std::string& text) const {
  using Weight = TextReading::Weight;
  if (!has_opinion_) return std::nullopt;
  const RuleCall call = with_text(reading, text);
  if (is_large(call) && is_too_costly(call)) return too_costly();
  for (const Rule* rule : candidates(call)) {
    if (!matches(*rule, call)) continue;
    const bool by_text = looks_at(*rule, call.tool, reading.argument);
    const bool allows = rule->action == Decision::allow;
    if (allows && by_text) continue;
    if (by_text || reading.weight == Weight::whole) return verdict_of(*rule);
    if (allows) return std::nullopt;  // of a call by that name no later rule would speak
    // What is about both was heard as a rule about the tool that was called.
    if (reading.weight == Weight::by_name && !tool_matches(rule->tool, reading.called))
      return verdict_of(*rule);
  }
  return std::nullopt;
}

std::optional<Verdict> RuleFile::judge(const RuleCall& call) const {
  if (!has_opinion_) return std::nullopt;
  if (is_large(call) && is_too_costly(call)) return too_costly();
  if (const Rule* rule = first_match(call)) return verdict_of(*rule);
  return judge_unmatched();
}

std::optional<Verdict> RuleFile::judge_unmatched() const {
  if (!has_opinion_) return std::nullopt;
  const Decision decision = otherwise_.value_or(Decision::deny);
  const std::string where = file_line(source_, otherwise_line_);
  Verdict verdict{
      GateId::rules, decision,
      "no rule of the operator's is about it, and the default is " + std::string(name_of(decision)),
      "permissions.default " + where};
  verdict.fix =
      decision == Decision::allow ? "" : "add a rule that allows it, or change the default at " + where;
  verdict.instead = instead_of(decision);
  return verdict;
}

size_t RuleFile::example_count() const {
  size_t count = 0;
  for (const auto& rule : rules_) count += rule.match.size() + rule.not_match.size();
  return count;
}

namespace {

// The strictest of what the files say; of those that ask, the strictest word on who may answer.
template <typename Judge>
Verdict strictest_of(const RuleFiles& files, Verdict strictest, const Judge& judge) {
  Approvers approvers = Approvers::anyone;
  bool judged = false;
  for (const auto* file : {&files.managed, &files.user, &files.project}) {
    if (!*file) continue;
    std::optional<Verdict> verdict = judge(**file);
    if (!verdict) continue;
    approvers = std::max(approvers, verdict->approvers);
    if (judged && verdict->decision <= strictest.decision) continue;
    strictest = *std::move(verdict);
    judged = true;
  }
  if (strictest.decision == Decision::ask) strictest.approvers = approvers;
  return strictest;
}

}  // namespace

Verdict rules_gate(const RuleFiles& files, const RuleCall& call) {
  const auto plain = canonical(call);
  if (!plain)
    return deny(GateId::rules, "cmd and command are one argument and both are given", "send one of them");
  if (auto refused = refuse_unjudgeable(files, *plain)) return *std::move(refused);
  return strictest_of(files, {GateId::rules, Decision::allow, "no permission rules are set"},
                      [&](const RuleFile& file) { return file.judge(*plain); });
}

namespace {

// What the whole of the text comes to for one name. The default speaks where
// nothing of it can be judged by its parts.
std::optional<Verdict> judge_whole(const RuleFile& file, const TextReading& reading,
                                   const OpaqueText& opaque) {
  auto verdict = file.judge_text(reading, opaque.text);
  if (verdict || opaque.parts || reading.weight != TextReading::Weight::whole) return verdict;
  return file.judge_unmatched();
}

std::optional<Verdict> judge_part(const RuleFile& file, const TextReading& reading, const OpaqueText& opaque,
                                  const std::string& part) {
  const bool fully = opaque.parts && reading.weight == TextReading::Weight::whole;
  return fully ? file.judge(with_text(reading, part)) : file.judge_text(reading, part);
}

// Within one file the strictest as well: each part is a command of its own.
std::optional<Verdict> judge_opaque(const RuleFile& file, const std::vector<TextReading>& readings,
                                    const OpaqueText& opaque) {
  std::optional<Verdict> strictest;
  Approvers approvers = Approvers::anyone;
  const auto take = [&](std::optional<Verdict> verdict) {
    if (!verdict) return;
    approvers = std::max(approvers, verdict->approvers);
    if (!strictest || verdict->decision > strictest->decision) strictest = std::move(verdict);
  };
  for (const auto& reading : readings) {
    take(judge_whole(file, reading, opaque));
    for (const auto& part : opaque.parts ? *opaque.parts : opaque.pieces)
      take(judge_part(file, reading, opaque, part));
  }
  if (strictest && strictest->decision == Decision::ask) strictest->approvers = approvers;
  return strictest;
}

}  // namespace

Verdict rules_on_text(const RuleFiles& files, const std::vector<TextReading>& readings,
                      const OpaqueText& opaque) {
  std::vector<TextReading> plain;
  for (const auto& reading : readings) {
    auto call = canonical(reading.call);
    if (!call)
      return deny(GateId::rules, "cmd and command are one argument and both are given", "send one of them");
    plain.push_back({*std::move(call), std::string(canonical_argument(reading.call.tool, reading.argument)),
                     reading.weight, std::string(canonical_tool(reading.called))});
    if (auto refused = refuse_unjudgeable(files, with_text(plain.back(), opaque.text)))
      return *std::move(refused);
  }
  return strictest_of(files, {GateId::rules, Decision::allow, "no rule is about it"},
                      [&](const RuleFile& file) { return judge_opaque(file, plain, opaque); });
}

Verdict rules_by_other_name(const RuleFiles& files, const RuleCall& call, std::string_view judged_tool) {
  if (auto refused = refuse_unjudgeable(files, call)) return *std::move(refused);
  return strictest_of(files, {GateId::rules, Decision::allow, "no rule is about " + shown(call.tool, 80)},
                      [&](const RuleFile& file) { return file.judge_by_other_name(call, judged_tool); });
}

}  // namespace cloche
