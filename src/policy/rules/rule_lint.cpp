#include "policy/rules/rule_lint.hpp"

#include <algorithm>
#include <map>

#include "base/lists.hpp"
#include "base/text/near_word.hpp"
#include "base/text/pieces.hpp"
#include "policy/rules/globs.hpp"

namespace cloche {
namespace {

// Positions of every | that is one, with the depth of parentheses it stands in.
struct Bar {
  size_t at;
  int depth;
};

size_t after_class(std::string_view pattern, size_t i) {
  ++i;
  if (i < pattern.size() && pattern[i] == '^') ++i;
  if (i < pattern.size() && pattern[i] == ']') ++i;  // the first one is a member
  while (i < pattern.size() && pattern[i] != ']') {
    if (pattern.substr(i).starts_with("[:")) {
      i = std::min(pattern.find(":]", i + 2), pattern.size());
    } else if (pattern[i] == '\\') {
      ++i;
    }
    ++i;
  }
  return i + 1;
}

std::vector<Bar> bars_of(std::string_view pattern) {
  std::vector<Bar> found;
  int depth = 0;
  size_t i = 0;
  while (i < pattern.size()) {
    const char c = pattern[i];
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c == '|') found.push_back({i, depth});
    i = c == '\\' ? i + 2 : (c == '[' ? after_class(pattern, i) : i + 1);
  }
  return found;
}

// The depth of the first | with nothing on one side of it: `a|` matches every text, `sudo(x|)` does not.
std::optional<int> empty_alternative(std::string_view pattern) {
  // Quoted runs and flags change what the signs mean.
  if (pattern.find("(?") != std::string_view::npos || pattern.find("\\Q") != std::string_view::npos)
    return std::nullopt;
  for (const auto& bar : bars_of(pattern)) {
    const char before = bar.at == 0 ? '(' : pattern[bar.at - 1];
    const bool escaped = bar.at > 1 && pattern[bar.at - 2] == '\\';
    const char after = bar.at + 1 == pattern.size() ? ')' : pattern[bar.at + 1];
    if (((before == '(' || before == '|') && !escaped) || after == ')' || after == '|') return bar.depth;
  }
  return std::nullopt;
}

std::vector<std::string_view> names_of(const std::vector<const ToolArguments*>& tools) {
  std::vector<std::string_view> names;
  for (const ToolArguments* tool : tools) names.push_back(tool->tool);
  return names;
}

const ToolArgument* find_argument(const ToolArguments& tool, std::string_view name) {
  return find_by(tool.arguments, &ToolArgument::name, canonical_argument(tool.tool, name));
}

// Equal for rules that say the same of the same arguments, in whatever order.
using Condition = std::map<std::string_view, std::string_view>;

Condition condition_of(const Rule& rule) {
  Condition condition;
  for (const auto& argument : rule.arguments) condition.emplace(argument.name, argument.pattern);
  return condition;
}

// By its letters: these match every text, and others may as well.
bool matches_every_text(std::string_view pattern) {
  constexpr std::string_view all[] = {"", "^", "$", ".*", "^.*", ".*$", "^.*$"};
  return contains(all, pattern);
}

bool matches_every_text(const Rule& rule) {
  return std::ranges::all_of(
      rule.arguments, [](const ArgumentPattern& argument) { return matches_every_text(argument.pattern); });
}

class Linter {
 public:
  Linter(const RuleFile& file, const std::vector<ToolArguments>& own) : file_(file) {
    for (const auto* list : {&tool_arguments(), &own}) {
      for (const auto& tool : *list) tools_.push_back(&tool);
    }
  }

  std::vector<RuleFinding> run() {
    for (const auto& rule : file_.rules()) {
      for (const auto& argument : rule.arguments) note_empty(rule, argument);
      if (!report_unknown(rule)) report_shadow(rule);
      by_condition_[condition_of(rule)].push_back(&rule);
      if (matches_every_text(rule)) of_every_text_.push_back(&rule);
    }
    return std::move(findings_);
  }

 private:
  void report(const Rule& rule, RuleFinding::Weight weight, std::string what) {
    findings_.push_back({rule.id + " " + file_line(file_.source(), rule.line), std::move(what), weight});
  }
  void fault(const Rule& rule, std::string what) {
    report(rule, RuleFinding::Weight::fault, std::move(what));
  }
  void note(const Rule& rule, std::string what) { report(rule, RuleFinding::Weight::note, std::move(what)); }

  void note_empty(const Rule& rule, const ArgumentPattern& argument) {
    const auto depth = empty_alternative(argument.pattern);
    if (!depth) return;
    note(rule, "the pattern of " + argument.name + " has an empty alternative" +
                   (*depth == 0 ? ", so it matches every text: " : ": ") + argument.pattern);
  }

  std::vector<const ToolArguments*> tools_of(const Rule& rule) const {
    std::vector<const ToolArguments*> found;
    for (const ToolArguments* known : tools_) {
      if (tool_matches(rule.tool, known->tool)) found.push_back(known);
    }
    return found;
  }

  // What is known of the texts of an argument. A rule for many tools may be about one that is not known here.
  const ToolArgument* known_argument(const Rule& rule, std::string_view name) const {
    if (is_glob(rule.tool)) return nullptr;
    const auto tools = tools_of(rule);
    return tools.empty() ? nullptr : find_argument(*tools.front(), name);
  }

  // Whether it can never decide, because it names what no tool has.
  bool report_unknown(const Rule& rule) {
    const auto tools = tools_of(rule);
    if (tools.empty()) return report_unknown_tool(rule);
    return std::ranges::any_of(rule.arguments, [&](const ArgumentPattern& argument) {
      return report_unknown_argument(rule, argument, tools);
    });
  }

  // Executors have the names that people give them, so only what looks like a slip is one.
  bool report_unknown_tool(const Rule& rule) {
    const std::string_view meant =
        is_glob(rule.tool) ? std::string_view() : near_word(rule.tool, names_of(tools_));
    if (meant.empty()) {
      note(rule, "no shipped tool has the name " + rule.tool + "; right for an executor of yours");
      return false;
    }
    fault(rule, "never decides: no tool of the name " + rule.tool + " is known; did you mean " +
                    std::string(meant) + "?");
    return true;
  }

  bool report_unknown_argument(const Rule& rule, const ArgumentPattern& argument,
                               const std::vector<const ToolArguments*>& tools) {
    const bool possible = std::ranges::any_of(
        tools, [&](const ToolArguments* tool) { return find_argument(*tool, argument.name) != nullptr; });
    if (possible) return false;
    if (is_glob(rule.tool)) {
      note(rule, "no known tool that " + rule.tool + " matches has an argument " + argument.name +
                     "; right for an executor of yours");
      return false;
    }
    std::vector<std::string_view> names;
    for (const auto& known : tools.front()->arguments) names.push_back(known.name);
    const std::string what =
        rule.tool + " has no argument " + argument.name + "; it has " + comma_separated(names);
    if (tools.front()->others) {
      note(rule, what + ", and takes others");
      return false;
    }
    fault(rule, "never decides: " + what);
    return true;
  }

  // The first rule before this one that surely matches all that it matches.
  const Rule* find_cover(const Rule& rule) const {
    const auto alike = by_condition_.find(condition_of(rule));
    if (alike != by_condition_.end())
      for (const Rule* earlier : alike->second)
        if (glob_covers(earlier->tool, rule.tool)) return earlier;
    const auto wide = std::ranges::find_if(of_every_text_, [&](const Rule* earlier) {
      return glob_covers(earlier->tool, rule.tool) && always_has_arguments_of(*earlier, rule);
    });
    return wide == of_every_text_.end() ? nullptr : *wide;
  }

  // Whether no call that `narrow` matches comes without an argument that `wide` names.
  bool always_has_arguments_of(const Rule& wide, const Rule& narrow) const {
    return std::ranges::all_of(wide.arguments, [&](const ArgumentPattern& argument) {
      const auto name = canonical_argument(narrow.tool, argument.name);
      const ToolArgument* known = known_argument(narrow, name);
      return find_by(narrow.arguments, &ArgumentPattern::name, name) != nullptr ||
             (known != nullptr && known->always);
    });
  }

  void report_shadow(const Rule& rule) {
    const Rule* wide = find_cover(rule);
    if (wide == nullptr) return note_lost_example(rule);
    const std::string which = wide->id + " on line " + std::to_string(wide->line);
    const bool same = wide->tool == rule.tool && condition_of(*wide) == condition_of(rule);
    fault(rule, same ? "never decides: it has the same condition as " + which
                     : "never decides: " + which + " matches everything that it matches");
  }

  void note_lost_example(const Rule& rule) {
    for (const auto& example : rule.match) {
      const Rule* decides = file_.first_match(example.call);
      if (decides == nullptr || decides == &rule || decides->action == rule.action) continue;
      return note(rule, "its example on line " + std::to_string(example.line) + " is decided before by " +
                            decides->id + ": " + std::string(name_of(decides->action)));
    }
  }

  const RuleFile& file_;
  std::vector<const ToolArguments*> tools_;  // shipped ones first
  std::map<Condition, std::vector<const Rule*>> by_condition_;
  std::vector<const Rule*> of_every_text_;
  std::vector<RuleFinding> findings_;
};

}  // namespace

std::vector<RuleFinding> lint(const RuleFile& file, const std::vector<ToolArguments>& own) {
  return Linter(file, own).run();
}

}  // namespace cloche
