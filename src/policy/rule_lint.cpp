// Looks at rules as text: which of them can never decide, and which say more than they seem to. It may miss
// some; what it reports is so.
#include <algorithm>

#include "policy/rules.hpp"
#include "policy/tool_glob.hpp"

namespace cloche {
namespace {

constexpr std::string_view special = R"(\.+*?()|[]{}^$)";

bool is_literal(std::string_view pattern) {
  return !pattern.empty() && pattern.find_first_of(special) == std::string_view::npos;
}

bool is_universal(std::string_view pattern) {
  for (std::string_view all : {"", ".*", "^", "$", "^.*", ".*$", "^.*$", ".*?", "(.*)", "(?:.*)"})
    if (pattern == all) return true;
  return false;
}

// A walk over a pattern that knows what is escaped and what stands in a class.
class PatternWalk {
 public:
  explicit PatternWalk(std::string_view pattern) : pattern_(pattern) {}

  // Positions of every | that is one, with the depth of parentheses it stands in.
  struct Bar {
    size_t at;
    int depth;
  };

  // Whether text must stand before its own beginning or after its own end: `a^b`, `$ ls`. Not within
  // parentheses, which may be optional.
  bool is_impossible() const {
    int depth = 0;
    for (size_t i = 0; i < pattern_.size(); i = next(i)) {
      if (pattern_[i] == '(') ++depth;
      if (pattern_[i] == ')') --depth;
      if (depth != 0) continue;
      if (pattern_[i] == '$' && is_letter(i + 1) && !is_optional(i + 2)) return true;
      if (pattern_[i] == '^' && i > 0 && is_letter(i - 1) && (i == 1 || pattern_[i - 2] != '\\')) return true;
    }
    return false;
  }

  std::vector<Bar> bars() const {
    std::vector<Bar> found;
    int depth = 0;
    for (size_t i = 0; i < pattern_.size(); i = next(i)) {
      if (pattern_[i] == '(') ++depth;
      if (pattern_[i] == ')') --depth;
      if (pattern_[i] == '|') found.push_back({i, depth});
    }
    return found;
  }

 private:
  bool is_letter(size_t i) const {
    return i < pattern_.size() && special.find(pattern_[i]) == std::string_view::npos;
  }
  bool is_optional(size_t i) const {
    return i < pattern_.size() && std::string_view("*?{").find(pattern_[i]) != std::string_view::npos;
  }

  size_t next(size_t i) const {
    if (pattern_[i] == '\\') return i + 2;
    return pattern_[i] == '[' ? after_class(i) : i + 1;
  }

  size_t after_class(size_t i) const {
    ++i;
    if (i < pattern_.size() && pattern_[i] == '^') ++i;
    if (i < pattern_.size() && pattern_[i] == ']') ++i;  // the first one is a member
    while (i < pattern_.size() && pattern_[i] != ']') {
      if (pattern_[i] == '[' && pattern_.substr(i).starts_with("[:")) {
        i = std::min(pattern_.find(":]", i + 2), pattern_.size());
      } else if (pattern_[i] == '\\') {
        ++i;
      }
      ++i;
    }
    return i + 1;
  }

  std::string_view pattern_;
};

// Quoted runs and flags change what the signs mean; such patterns are taken whole.
bool is_plain(std::string_view pattern) {
  return pattern.find("(?") == std::string_view::npos && pattern.find("\\Q") == std::string_view::npos;
}

std::vector<std::string_view> alternatives(std::string_view pattern) {
  std::vector<std::string_view> parts;
  size_t from = 0;
  if (is_plain(pattern)) {
    for (const auto& bar : PatternWalk(pattern).bars()) {
      if (bar.depth != 0) continue;
      parts.push_back(pattern.substr(from, bar.at - from));
      from = bar.at + 1;
    }
  }
  parts.push_back(pattern.substr(from));
  return parts;
}

bool can_never_match(std::string_view pattern) {
  const auto parts = alternatives(pattern);
  return is_plain(pattern) && std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
           return PatternWalk(part).is_impossible();
         });
}

// The depth of the first | with nothing on one side of it: `a|` matches every text, `sudo(x|)` does not.
std::optional<int> empty_alternative(std::string_view pattern) {
  if (!is_plain(pattern)) return std::nullopt;
  for (const auto& bar : PatternWalk(pattern).bars()) {
    const char before = bar.at == 0 ? '(' : pattern[bar.at - 1];
    const bool escaped = bar.at > 1 && pattern[bar.at - 2] == '\\';
    const char after = bar.at + 1 == pattern.size() ? ')' : pattern[bar.at + 1];
    if (((before == '(' || before == '|') && !escaped) || after == ')' || after == '|') return bar.depth;
  }
  return std::nullopt;
}

// A pattern taken apart once: every rule is compared with all before it.
struct Alternative {
  std::string_view text;
  bool literal = false;
  bool universal = false;
};

struct SplitPattern {
  std::string_view name;
  std::string_view pattern;
  bool universal = false;
  std::vector<Alternative> parts = {};
};

struct Condition {
  const Rule* rule;
  std::vector<SplitPattern> arguments = {};
};

Condition condition_of(const Rule& rule) {
  Condition condition{&rule};
  for (const auto& argument : rule.arguments) {
    SplitPattern split{argument.name, argument.pattern, is_universal(argument.pattern)};
    for (std::string_view part : alternatives(argument.pattern))
      split.parts.push_back({part, is_literal(part), is_universal(part)});
    condition.arguments.push_back(std::move(split));
  }
  return condition;
}

bool part_covers(const Alternative& wide, const Alternative& narrow) {
  if (wide.universal || wide.text == narrow.text) return true;
  return wide.literal && narrow.literal && narrow.text.find(wide.text) != std::string_view::npos;
}

// Whether every text with `narrow` in it surely has `wide` in it.
bool pattern_covers(const SplitPattern& wide, const SplitPattern& narrow) {
  if (wide.universal || wide.pattern == narrow.pattern) return true;
  return std::all_of(narrow.parts.begin(), narrow.parts.end(), [&](const Alternative& part) {
    return std::any_of(wide.parts.begin(), wide.parts.end(),
                       [&](const Alternative& other) { return part_covers(other, part); });
  });
}

bool covers(const Condition& wide, const Condition& narrow) {
  if (!glob_covers(wide.rule->tool, narrow.rule->tool)) return false;
  return std::all_of(wide.arguments.begin(), wide.arguments.end(), [&](const SplitPattern& argument) {
    return std::any_of(narrow.arguments.begin(), narrow.arguments.end(), [&](const SplitPattern& other) {
      return other.name == argument.name && pattern_covers(argument, other);
    });
  });
}

bool same(const Condition& a, const Condition& b) {
  return a.rule->tool == b.rule->tool && a.arguments.size() == b.arguments.size() && covers(a, b) &&
         covers(b, a);
}

class Linter {
 public:
  explicit Linter(const RuleFile& file) : file_(file) {}

  std::vector<RuleFinding> run() {
    for (const auto& rule : file_.rules()) {
      Condition condition = condition_of(rule);
      report_shadow(condition);
      earlier_.push_back(std::move(condition));
      for (const auto& argument : rule.arguments) {
        report_empty(rule, argument);
        if (can_never_match(argument.pattern))
          report(rule, "the pattern of " + argument.name + " can never match: " + argument.pattern);
      }
    }
    return std::move(findings_);
  }

 private:
  void report(const Rule& rule, std::string what) {
    findings_.push_back({rule.id + " " + place(file_.source(), rule.line), std::move(what)});
  }

  void report_empty(const Rule& rule, const ArgumentPattern& argument) {
    const auto depth = empty_alternative(argument.pattern);
    if (!depth) return;
    report(rule, "the pattern of " + argument.name + " has an empty alternative" +
                     (*depth == 0 ? ", so it matches every text: " : ": ") + argument.pattern);
  }

  void report_shadow(const Condition& condition) {
    const Rule& rule = *condition.rule;
    const auto wide = std::find_if(earlier_.begin(), earlier_.end(),
                                   [&](const Condition& earlier) { return covers(earlier, condition); });
    if (wide == earlier_.end()) return report_lost_example(rule);
    const std::string which = wide->rule->id + " on line " + std::to_string(wide->rule->line);
    report(rule, same(*wide, condition) ? "never decides: it has the same condition as " + which
                                        : "never decides: " + which + " matches everything that it matches");
  }

  void report_lost_example(const Rule& rule) {
    for (const auto& example : rule.match) {
      const Rule* decides = file_.first_match(example.call);
      if (decides == nullptr || decides == &rule || decides->action == rule.action) continue;
      return report(rule, "its example on line " + std::to_string(example.line) + " is decided before by " +
                              decides->id + ": " + std::string(name_of(decides->action)));
    }
  }

  const RuleFile& file_;
  std::vector<Condition> earlier_;
  std::vector<RuleFinding> findings_;
};

}  // namespace

std::vector<RuleFinding> lint(const RuleFile& file) { return Linter(file).run(); }

}  // namespace cloche
