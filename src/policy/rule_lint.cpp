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

// Whether every text with `narrow` in it surely has `wide` in it.
bool pattern_covers(std::string_view wide, std::string_view narrow) {
  if (wide == narrow || is_universal(wide)) return true;
  const auto wide_parts = alternatives(wide);
  const auto narrow_parts = alternatives(narrow);
  return std::all_of(narrow_parts.begin(), narrow_parts.end(), [&](std::string_view part) {
    return std::any_of(wide_parts.begin(), wide_parts.end(), [&](std::string_view other) {
      if (part == other || is_universal(other)) return true;
      return is_literal(part) && is_literal(other) && part.find(other) != std::string_view::npos;
    });
  });
}

bool rule_covers(const Rule& wide, const Rule& narrow) {
  if (!glob_covers(wide.tool, narrow.tool)) return false;
  return std::all_of(wide.arguments.begin(), wide.arguments.end(), [&](const ArgumentPattern& argument) {
    return std::any_of(narrow.arguments.begin(), narrow.arguments.end(), [&](const ArgumentPattern& other) {
      return other.name == argument.name && pattern_covers(argument.pattern, other.pattern);
    });
  });
}

bool same_condition(const Rule& a, const Rule& b) {
  return a.tool == b.tool && a.arguments.size() == b.arguments.size() && rule_covers(a, b) &&
         rule_covers(b, a);
}

class Linter {
 public:
  explicit Linter(const RuleFile& file) : file_(file) {}

  std::vector<RuleFinding> run() {
    for (const auto& rule : file_.rules()) {
      report_shadow(rule);
      for (const auto& argument : rule.arguments) report_empty(rule, argument);
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

  void report_shadow(const Rule& rule) {
    for (const auto& earlier : file_.rules()) {
      if (&earlier == &rule) break;
      if (!rule_covers(earlier, rule)) continue;
      const std::string which = earlier.id + " on line " + std::to_string(earlier.line);
      return report(rule, same_condition(earlier, rule)
                              ? "never decides: it has the same condition as " + which
                              : "never decides: " + which + " matches everything that it matches");
    }
    report_lost_example(rule);
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
  std::vector<RuleFinding> findings_;
};

}  // namespace

std::vector<RuleFinding> lint(const RuleFile& file) { return Linter(file).run(); }

}  // namespace cloche
