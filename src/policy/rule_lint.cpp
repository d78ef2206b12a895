// Which rules can never decide, and which say more than they seem to. It may miss some; what it reports is
// so.
#include <algorithm>
#include <array>

#include "policy/pattern_language.hpp"
#include "policy/rules.hpp"
#include "policy/tool_arguments.hpp"
#include "policy/tool_glob.hpp"

namespace cloche {
namespace {

using Answer = TextSearch::Answer;

// Steps over automata, some nanoseconds each: no file keeps `cloche test` longer than a second or two.
constexpr size_t effort_for_a_file = 100'000'000;
constexpr size_t effort_for_a_question = 500'000;

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

std::vector<const ToolArguments*> tools_of(const Rule& rule) {
  std::vector<const ToolArguments*> found;
  for (const auto& known : tool_arguments()) {
    if (tool_matches(rule.tool, known.tool)) found.push_back(&known);
  }
  return found;
}

const ToolArgument* find_argument(const ToolArguments& tool, std::string_view name) {
  const auto at = std::find_if(
      tool.arguments.begin(), tool.arguments.end(),
      [&](const ToolArgument& argument) { return argument.name == canonical_argument(tool.tool, name); });
  return at == tool.arguments.end() ? nullptr : &*at;
}

// What is known of the texts of an argument. A rule for many tools may be about one that is not known here.
const ToolArgument* known_argument(const Rule& rule, std::string_view name) {
  if (is_glob(rule.tool)) return nullptr;
  const auto tools = tools_of(rule);
  return tools.empty() ? nullptr : find_argument(*tools.front(), name);
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

bool same(const Rule& a, const Rule& b) {
  return a.tool == b.tool && a.arguments.size() == b.arguments.size() &&
         std::all_of(a.arguments.begin(), a.arguments.end(), [&](const ArgumentPattern& argument) {
           const auto* other = argument_of(b, argument.name);
           return other != nullptr && other->pattern == argument.pattern;
         });
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

 private:
  static std::string_view texts_of(const ToolArgument* argument) {
    return argument == nullptr ? std::string_view() : argument->texts;
  }

  TextSearch search(std::vector<std::string_view> matching, std::vector<std::string_view> failing) {
    std::vector<PatternLanguage> read;
    for (const auto* list : {&matching, &failing}) {
      for (std::string_view pattern : *list) {
        auto language = read_pattern(pattern);
        if (!language) return {};
        read.push_back(*std::move(language));
      }
    }
    std::vector<const PatternLanguage*> languages;
    for (const auto& language : read) languages.push_back(&language);
    const std::span<const PatternLanguage* const> all(languages);
    size_t effort = std::min(effort_, effort_for_a_question);
    const size_t given = effort;
    auto found = find_text(all.first(matching.size()), all.subspan(matching.size()), effort);
    effort_ -= given - effort;
    return found;
  }

  size_t effort_ = effort_for_a_file;
};

class Linter {
 public:
  explicit Linter(const RuleFile& file) : file_(file) {}

  std::vector<RuleFinding> run() {
    for (const auto& rule : file_.rules()) {
      for (const auto& argument : rule.arguments) note_empty(rule, argument);
      if (!report_unknown(rule) && !report_impossible(rule)) report_shadow(rule);
    }
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

  bool report_unknown(const Rule& rule) {
    const auto tools = tools_of(rule);
    std::vector<std::string_view> names;
    if (tools.empty()) {
      for (const auto& known : tool_arguments()) names.push_back(known.tool);
      fault(rule,
            "never decides: no tool of the name " + rule.tool + " is known; known are " + list_of(names));
      return true;
    }
    for (const auto& argument : rule.arguments) {
      const auto has_it = [&](const ToolArguments* tool) {
        return find_argument(*tool, argument.name) != nullptr;
      };
      if (std::any_of(tools.begin(), tools.end(), has_it)) continue;
      for (const auto& known : tools.front()->arguments) names.push_back(known.name);
      fault(rule, "never decides: " + rule.tool + " has no argument " + argument.name +
                      (tools.size() == 1 ? "; it has " + list_of(names) : ", whichever tool it is"));
      return true;
    }
    return false;
  }

  // The argument whose pattern nothing can match makes the whole rule dead.
  bool report_impossible(const Rule& rule) {
    for (const auto& argument : rule.arguments) {
      const ToolArgument* known = known_argument(rule, argument.name);
      if (patterns_.example(argument.pattern, known).answer != Answer::none) continue;
      const bool elsewhere = patterns_.example(argument.pattern, nullptr).answer == Answer::found;
      fault(rule, "the pattern of " + argument.name + " can never match: " + argument.pattern +
                      (elsewhere ? "; " + argument.name + " is always " + std::string(known->means) : ""));
      return true;
    }
    return false;
  }

  // A call that the rule matches; nullopt: none was found.
  std::optional<RuleCall> example_of(const Rule& rule) {
    RuleCall call{.tool = sample_name(rule.tool)};
    for (const auto& argument : rule.arguments) {
      auto found = patterns_.example(argument.pattern, known_argument(rule, argument.name));
      if (found.answer != Answer::found) return std::nullopt;
      call.arguments[std::string(canonical_argument(call.tool, argument.name))] = std::move(found.text);
    }
    if (is_glob(rule.tool)) return call;
    for (const auto& argument : tools_of(rule).front()->arguments) {
      if (!argument.always || argument_of(rule, argument.name) != nullptr) continue;
      auto any = patterns_.example("", &argument);
      if (any.answer != Answer::found) return std::nullopt;
      call.arguments[std::string(argument.name)] = std::move(any.text);
    }
    return call;
  }

  // Only what matches an example of the rule can match all that it matches: that spares asking most of them.
  const Rule* find_cover(const Rule& rule) {
    std::vector<const Rule*> possible;
    if (const auto example = example_of(rule)) {
      possible = file_.all_matches(*example);
    } else {
      for (const auto& other : file_.rules()) possible.push_back(&other);
    }
    const auto cover = std::find_if(possible.begin(), possible.end(), [&](const Rule* other) {
      return other >= &rule || covers(*other, rule);  // in order: from the rule itself on, none is before it
    });
    return cover == possible.end() || *cover >= &rule ? nullptr : *cover;
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

  void report_shadow(const Rule& rule) {
    const Rule* wide = find_cover(rule);
    if (wide == nullptr) return note_lost_example(rule);
    const std::string which = wide->id + " on line " + std::to_string(wide->line);
    fault(rule, same(*wide, rule) ? "never decides: it has the same condition as " + which
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
  Patterns patterns_;
  std::vector<RuleFinding> findings_;
};

}  // namespace

std::vector<RuleFinding> lint(const RuleFile& file) { return Linter(file).run(); }

}  // namespace cloche
