#include "policy/rule_lint.hpp"

#include <algorithm>
#include <map>

#include "policy/pattern_language.hpp"
#include "policy/tool_glob.hpp"

namespace cloche {
namespace {

using Answer = TextSearch::Answer;

// Steps over automata, some nanoseconds each: no file keeps `cloche test` longer than a second or two.
constexpr size_t effort_for_a_file = 100'000'000;
constexpr size_t effort_for_a_question = 500'000;
constexpr size_t reading_effort = 10;   // for each node
constexpr size_t matching_effort = 20;  // what RE2 takes for a short text

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

// How many letters have to be put in, taken out or replaced to make one word of the other.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

constexpr size_t slips = 2;

// The name that was probably meant. Two short names are near each other by chance.
std::string_view near_miss(std::string_view name, const std::vector<const ToolArguments*>& tools) {
  const ToolArguments* nearest = nullptr;
  size_t least = slips + 1;
  for (const ToolArguments* tool : tools) {
    const size_t distance = edit_distance(name, tool->tool);
    if (distance >= least || 2 * distance >= tool->tool.size()) continue;
    nearest = tool;
    least = distance;
  }
  return nearest == nullptr ? std::string_view() : nearest->tool;
}

const ToolArgument* find_argument(const ToolArguments& tool, std::string_view name) {
  const auto at = std::find_if(
      tool.arguments.begin(), tool.arguments.end(),
      [&](const ToolArgument& argument) { return argument.name == canonical_argument(tool.tool, name); });
  return at == tool.arguments.end() ? nullptr : &*at;
}

const ArgumentPattern* argument_of(const Rule& rule, std::string_view name) {
  const auto at = std::find_if(rule.arguments.begin(), rule.arguments.end(),
                               [&](const ArgumentPattern& argument) { return argument.name == name; });
  return at == rule.arguments.end() ? nullptr : &*at;
}

std::string list_of(const std::vector<std::string_view>& names) {
  std::string list;
  for (std::string_view name : names) list += (list.empty() ? "" : ", ") + std::string(name);
  return list;
}

// Equal for rules that say the same of the same arguments.
std::vector<std::string> condition_of(const Rule& rule) {
  std::vector<std::pair<std::string, std::string>> arguments;
  for (const auto& argument : rule.arguments) arguments.emplace_back(argument.name, argument.pattern);
  std::sort(arguments.begin(), arguments.end());
  std::vector<std::string> condition = {rule.tool};
  for (auto& [name, pattern] : arguments) {
    condition.push_back(std::move(name));
    condition.push_back(std::move(pattern));
  }
  return condition;
}

// Questions about patterns, answered as far as the effort goes.
class Patterns {
 public:
  // A text that the pattern matches and that the argument can have.
  TextSearch example(std::string_view pattern, const ToolArgument* argument) {
    return search({pattern, texts_of(argument)}, {});
  }

  // Whether `wide` surely matches every text that `narrow` matches and that the argument can have.
  bool covers(std::string_view wide, std::string_view narrow, const ToolArgument* argument) {
    return wide == narrow || search({narrow, texts_of(argument)}, {wide}).answer == Answer::none;
  }

  void charge(size_t effort) { effort_ -= std::min(effort_, effort); }
  bool is_spent() const { return effort_ == 0; }

 private:
  static std::string_view texts_of(const ToolArgument* argument) {
    return argument == nullptr ? std::string_view() : argument->texts;
  }

  TextSearch search(std::vector<std::string_view> matching, std::vector<std::string_view> failing) {
    if (is_spent()) return {};
    std::vector<PatternLanguage> read;
    for (const auto* list : {&matching, &failing}) {
      for (std::string_view pattern : *list) {
        auto language = read_pattern(pattern);
        if (!language) return {};
        charge(reading_effort * language->nodes.size());
        read.push_back(*std::move(language));
      }
    }
    std::vector<const PatternLanguage*> languages;
    for (const auto& language : read) languages.push_back(&language);
    const std::span<const PatternLanguage* const> all(languages);
    size_t effort = std::min(effort_, effort_for_a_question);
    const size_t given = effort;
    auto found = find_text(all.first(matching.size()), all.subspan(matching.size()), effort);
    charge(given - effort);
    return found;
  }

  size_t effort_ = effort_for_a_file;
};

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
      std::optional<RuleCall> example;
      if (!report_unknown(rule) && find_example(rule, example)) report_shadow(rule, example);
      by_condition_.emplace(condition_of(rule), &rule);
    }
    if (patterns_.is_spent())
      findings_.push_back({file_.source(),
                           "too much to compare every rule with all before it: some may be missed",
                           RuleFinding::Weight::note});
    return std::move(findings_);
  }

 private:
  void report(const Rule& rule, RuleFinding::Weight weight, std::string what) {
    findings_.push_back({rule.id + " " + place(file_.source(), rule.line), std::move(what), weight});
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
    return std::any_of(rule.arguments.begin(), rule.arguments.end(), [&](const ArgumentPattern& argument) {
      return report_unknown_argument(rule, argument, tools);
    });
  }

  // Executors have the names that people give them, so only what looks like a slip is one.
  bool report_unknown_tool(const Rule& rule) {
    const std::string_view meant = is_glob(rule.tool) ? std::string_view() : near_miss(rule.tool, tools_);
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
    const bool possible = std::any_of(tools.begin(), tools.end(), [&](const ToolArguments* tool) {
      return find_argument(*tool, argument.name) != nullptr;
    });
    if (possible) return false;
    if (is_glob(rule.tool)) {
      note(rule, "no known tool that " + rule.tool + " matches has an argument " + argument.name +
                     "; right for an executor of yours");
      return false;
    }
    std::vector<std::string_view> names;
    for (const auto& known : tools.front()->arguments) names.push_back(known.name);
    const std::string what = rule.tool + " has no argument " + argument.name + "; it has " + list_of(names);
    if (tools.front()->others) {
      note(rule, what + ", and takes others");
      return false;
    }
    fault(rule, "never decides: " + what);
    return true;
  }

  // A call that the rule matches, if one was found. False: there can be none, and that was reported.
  bool find_example(const Rule& rule, std::optional<RuleCall>& example) {
    example = RuleCall{.tool = sample_name(rule.tool)};
    for (const auto& argument : rule.arguments) {
      const ToolArgument* known = known_argument(rule, argument.name);
      const TextSearch found = patterns_.example(argument.pattern, known);
      if (found.answer == Answer::none) {
        report_impossible(rule, argument, known);
        return false;
      }
      add_example(example, argument.name, found);
    }
    const auto tools = tools_of(rule);
    if (is_glob(rule.tool) || tools.empty()) return true;
    for (const auto& known : tools.front()->arguments) {
      if (known.always && argument_of(rule, known.name) == nullptr)
        add_example(example, known.name, patterns_.example("", &known));
    }
    return true;
  }

  static void add_example(std::optional<RuleCall>& example, std::string_view name, const TextSearch& found) {
    if (found.answer != Answer::found) example.reset();
    if (example) example->arguments[std::string(canonical_argument(example->tool, name))] = found.text;
  }

  void report_impossible(const Rule& rule, const ArgumentPattern& argument, const ToolArgument* known) {
    const bool elsewhere = patterns_.example(argument.pattern, nullptr).answer == Answer::found;
    fault(rule, "the pattern of " + argument.name + " can never match: " + argument.pattern +
                    (elsewhere ? "; " + argument.name + " is always " + std::string(known->means) : ""));
  }

  // Only what matches an example of the rule can match all that it matches: that spares asking most of them.
  const Rule* find_cover(const Rule& rule, const std::optional<RuleCall>& example) {
    if (const auto twin = by_condition_.find(condition_of(rule)); twin != by_condition_.end())
      return twin->second;
    if (!example) return nullptr;
    const auto possible = file_.candidates(*example);
    patterns_.charge(possible.size());
    for (const Rule* earlier : possible) {
      if (earlier >= &rule || patterns_.is_spent()) break;
      patterns_.charge(matching_effort);
      if (matches(*earlier, *example) && covers(*earlier, rule)) return earlier;
    }
    return nullptr;
  }

  bool covers(const Rule& wide, const Rule& narrow) {
    if (!glob_covers(wide.tool, narrow.tool)) return false;
    return std::all_of(wide.arguments.begin(), wide.arguments.end(), [&](const ArgumentPattern& argument) {
      const auto name = canonical_argument(narrow.tool, argument.name);
      const ToolArgument* known = known_argument(narrow, name);
      if (const auto* other = argument_of(narrow, name))
        return patterns_.covers(argument.pattern, other->pattern, known);
      return known != nullptr && known->always && patterns_.covers(argument.pattern, "", known);
    });
  }

  void report_shadow(const Rule& rule, const std::optional<RuleCall>& example) {
    const Rule* wide = find_cover(rule, example);
    if (wide == nullptr) return note_lost_example(rule);
    const std::string which = wide->id + " on line " + std::to_string(wide->line);
    fault(rule, condition_of(*wide) == condition_of(rule)
                    ? "never decides: it has the same condition as " + which
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
  Patterns patterns_;
  std::map<std::vector<std::string>, const Rule*> by_condition_;  // the first of each
  std::vector<RuleFinding> findings_;
};

}  // namespace

std::vector<RuleFinding> lint(const RuleFile& file, const std::vector<ToolArguments>& own) {
  return Linter(file, own).run();
}

}  // namespace cloche
