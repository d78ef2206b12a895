// Reads `permissions` of a configuration file. Whatever is not understood refuses the file: a rule that was
// misspelt and ignored would be a hole that the operator does not see.

#include "base/json/json_text.hpp"
#include "base/json/json_writer.hpp"
#include "policy/rules/globs.hpp"
#include "policy/rules/pattern.hpp"
#include "policy/rules/rules.hpp"

namespace cloche {
namespace {

constexpr size_t most_rules = 20'000;
constexpr size_t most_program =
    1'000'000;  // instructions of all patterns of a file; ordinary ones have fifty
constexpr size_t longest_reason = 500;
constexpr size_t most_example_cost = 60'000'000;  // a fraction of a second at worst (matching_cost)

class RuleReader {
 public:
  RuleReader(const std::string& source, const NormaliseCommand& normalise)
      : source_(source), normalise_(normalise) {}

  Result<Rule> read(const JsonValue& value, size_t number) const {
    const std::string id = "permissions.rules[" + std::to_string(number) + "]";
    if (!value.is_object()) return fail(value.line, id + " is not an object");
    TRY(refuse_unknown(value, {"tool", "args", "action", "approver", "reason", "match", "not_match"}));
    Rule rule{.id = id, .line = value.line};
    rule.tool = TRY(read_tool(value));
    rule.action = TRY(read_action(value, "action"));
    if (const auto* approver = value.find("approver"))
      rule.approvers = TRY(read_approvers(*approver, rule.action));
    if (const auto* args = value.find("args")) rule.arguments = TRY(read_arguments(*args, rule.tool));
    if (const auto* reason = value.find("reason")) rule.reason = TRY(read_reason(*reason));
    if (const auto* examples = value.find("match")) rule.match = TRY(read_examples(*examples, rule));
    if (const auto* examples = value.find("not_match")) rule.not_match = TRY(read_examples(*examples, rule));
    TRY(check_examples(rule));
    return rule;
  }

  Result<Decision> read_action(const JsonValue& object, std::string_view key) const {
    const JsonValue* value = object.find(key);
    if (value == nullptr) return fail(object.line, std::string(key) + " is missing: allow, deny or ask");
    if (value->is_string())
      for (Decision decision : {Decision::allow, Decision::ask, Decision::deny})
        if (value->text == name_of(decision)) return decision;
    return fail(value->line, std::string(key) + " must be allow, deny or ask");
  }

  Result<void> refuse_unknown(const JsonValue& object, std::initializer_list<std::string_view> known) const {
    return refuse_unknown_keys(object, known, source_);
  }

  Error fail(int line, const std::string& what) const { return json_error(source_, line, what); }

 private:
  Result<std::string> read_tool(const JsonValue& value) const {
    const JsonValue* tool = value.find("tool");
    if (tool == nullptr) return fail(value.line, "tool is missing; \"*\" means every tool");
    if (!tool->is_string() || !is_tool_pattern(tool->text))
      return fail(tool->line,
                  "tool must be a name of letters, digits and _-.:/@, or a glob of them with * and ?");
    return std::string(canonical_tool(tool->text));
  }

  Result<Approvers> read_approvers(const JsonValue& value, Decision action) const {
    // On a rule that does not ask it would look like a promise.
    if (action != Decision::ask)
      return fail(value.line, "approver says who may answer, and only a rule with action ask has a question");
    if (value.is_string())
      for (Approvers approvers : {Approvers::anyone, Approvers::operator_alone})
        if (value.text == name_of(approvers)) return approvers;
    return fail(value.line, "approver must be any or operator");
  }

  Result<std::vector<ArgumentPattern>> read_arguments(const JsonValue& args, const std::string& tool) const {
    if (!args.is_object()) return fail(args.line, "args must be an object: argument name to pattern");
    // A template that came out empty must not become a rule about everything.
    if (args.members.empty())
      return fail(args.line, "args is empty; leave it out to match whatever the arguments");
    std::vector<ArgumentPattern> patterns;
    for (const auto& [name, line, value] : args.members) {
      if (!value.is_string())
        return fail(value.line, "the pattern of " + json_quote(name) + " must be a string");
      auto compiled = compile_pattern(value.text, Dot::matches_newline);
      if (!compiled.ok()) return fail(value.line, compiled.error().what.text());
      program_size_ += static_cast<size_t>(compiled.value()->ProgramSize());
      if (program_size_ > most_program)
        return fail(value.line, "the patterns up to here are too large together to be judged in time");
      patterns.push_back(
          {std::string(canonical_argument(tool, name)), value.text, std::move(compiled).value()});
      for (const auto& other : patterns)
        if (&other != &patterns.back() && other.name == patterns.back().name)
          return fail(line, "cmd and command are one argument and both are given");
    }
    return patterns;
  }

  Result<std::string> read_reason(const JsonValue& value) const {
    if (!value.is_string() || value.text.size() > longest_reason)
      return fail(value.line,
                  "reason must be a string of at most " + std::to_string(longest_reason) + " bytes");
    // It is shown on terminals and to models, and a project's file is not the operator's.
    for (char c : value.text)
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
        return fail(value.line, "reason has a control character in it");
    return value.text;
  }

  Result<std::vector<RuleExample>> read_examples(const JsonValue& list, const Rule& rule) const {
    if (!list.is_array()) return fail(list.line, "match and not_match must be lists");
    std::vector<RuleExample> examples;
    for (const auto& item : list.items) examples.push_back(TRY(read_example(item, rule)));
    return examples;
  }

  // A command without a directory starts at the top of the workspace, as rules see every call of it.
  static RuleExample at_top(RuleExample example) {
    const std::string& tool = example.call.tool;
    if (tool == "run_shell" || tool == "run_script" || tool == "Bash")
      example.call.arguments.try_emplace("cwd", ".");
    return example;
  }

  // "text" for the rule's only argument, or {"tool": name, "args": {name: text}}, both optional.
  Result<RuleExample> read_example(const JsonValue& item, const Rule& rule) const {
    RuleExample example{.call = {.tool = sample_name(rule.tool)}, .line = item.line};
    if (item.is_string()) {
      if (rule.arguments.size() != 1)
        return fail(item.line,
                    "the rule has not exactly one argument: write the example as {\"args\": {...}}");
      TRY(add_text(example.call, rule.arguments[0].name, item));
      return at_top(std::move(example));
    }
    if (!item.is_object())
      return fail(item.line, "an example is a string or {\"tool\": ..., \"args\": {...}}");
    TRY(refuse_unknown(item, {"tool", "args"}));
    if (const auto* tool = item.find("tool")) {
      if (!tool->is_string() || !is_tool_pattern(tool->text) || is_glob(tool->text))
        return fail(tool->line, "an example's tool must be a name");
      example.call.tool = canonical_tool(tool->text);
    }
    if (const auto* args = item.find("args")) {
      if (!args->is_object()) return fail(args->line, "args must be an object: argument name to text");
      for (const auto& member : args->members) TRY(add_text(example.call, member.name, member.value));
    }
    return at_top(std::move(example));
  }

  Result<void> add_text(RuleCall& call, const std::string& argument, const JsonValue& value) const {
    if (!value.is_string())
      return fail(value.line, "the text of " + json_quote(argument) + " must be a string");
    const std::string name(canonical_argument(call.tool, argument));
    std::string text = value.text;
    if (call.tool == "run_shell" && name == "cmd" && normalise_) {
      auto quoted = normalise_(value.text);
      if (!quoted.ok())
        return fail(value.line,
                    "the example " + json_quote(value.text) + " is no call: " + quoted.error().what.text());
      text = std::move(quoted).value();
    }
    if (!call.arguments.emplace(name, std::move(text)).second)
      return fail(value.line, "cmd and command are one argument and both are given");
    return {};
  }

  // A project's file is read for every call, and its examples may be made to keep us busy.
  Result<void> bound_examples(const Rule& rule) const {
    for (const auto* examples : {&rule.match, &rule.not_match}) {
      for (const auto& example : *examples) {
        example_cost_ += matching_cost(rule, example.call);
        if (example_cost_ > most_example_cost)
          return fail(example.line,
                      "the examples up to here are too long for their patterns to be checked in time");
      }
    }
    return {};
  }

  Result<void> check_examples(const Rule& rule) const {
    TRY(bound_examples(rule));
    for (const auto& example : rule.match)
      if (!matches(rule, example.call))
        return fail(example.line, rule.id + " does not match its own example");
    for (const auto& example : rule.not_match)
      if (matches(rule, example.call))
        return fail(example.line, rule.id + " matches what it says it does not");
    return {};
  }

  const std::string& source_;
  mutable size_t program_size_ = 0;  // so far
  mutable size_t example_cost_ = 0;
  const NormaliseCommand& normalise_;
};

}  // namespace

Result<RuleFile> RuleFile::read(const JsonValue* permissions, const std::string& source,
                                const NormaliseCommand& normalise) {
  RuleFile file;
  file.source_ = source;
  if (permissions == nullptr) return file;
  const RuleReader reader(source, normalise);
  if (!permissions->is_object()) return reader.fail(permissions->line, "permissions must be an object");
  TRY(reader.refuse_unknown(*permissions, {"rules", "default"}));
  const JsonValue* otherwise = permissions->find("default");
  const JsonValue* list = permissions->find("rules");
  file.has_opinion_ = otherwise != nullptr || list != nullptr;
  if (otherwise != nullptr) file.otherwise_ = TRY(reader.read_action(*permissions, "default"));
  file.otherwise_line_ = otherwise != nullptr ? otherwise->line : permissions->line;
  if (list != nullptr) {
    if (!list->is_array()) return reader.fail(list->line, "permissions.rules must be a list");
    if (list->items.size() > most_rules)
      return reader.fail(list->line, "more than " + std::to_string(most_rules) + " rules");
    for (const auto& item : list->items) file.rules_.push_back(TRY(reader.read(item, file.rules_.size())));
  }
  file.first_patterns_ = first_patterns_of(file.rules_);
  return file;
}

}  // namespace cloche
