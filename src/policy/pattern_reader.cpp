// From the text of a pattern to its automaton. The syntax is RE2's, and RE2 has found it good before.
#include <algorithm>
#include <memory>

#include "base/utf8.hpp"
#include "policy/pattern_language.hpp"

namespace cloche {
namespace {

constexpr size_t most_nodes = 5000;
constexpr int endless = -1;
constexpr int deepest = 200;

struct Times {
  int least = 0;
  int most = endless;
};

struct Part;
using Parts = std::vector<std::unique_ptr<Part>>;

struct Part {
  enum class Kind { single, sequence, choice, repeat };
  Kind kind = Kind::sequence;
  PatternNode node = {};  // of a single one, without its next
  Parts parts = {};
  Times times = {};  // of a repeat
};
using PartPtr = std::unique_ptr<Part>;

PartPtr single(PatternNode::Kind kind, CodeSet set = {}) {
  auto part = std::make_unique<Part>();
  part->kind = Part::Kind::single;
  part->node = {.kind = kind, .set = std::move(set)};
  return part;
}

PartPtr group(Part::Kind kind, Parts parts) {
  if (parts.size() == 1) return std::move(parts.front());
  auto part = std::make_unique<Part>();
  part->kind = kind;
  part->parts = std::move(parts);
  return part;
}

CodeSet in_order(CodeSet set) {
  std::sort(set.begin(), set.end(), [](const CodeRange& a, const CodeRange& b) { return a.first < b.first; });
  CodeSet merged;
  for (const auto& range : set) {
    if (!merged.empty() && range.first <= merged.back().last + 1) {
      merged.back().last = std::max(merged.back().last, range.last);
    } else {
      merged.push_back(range);
    }
  }
  return merged;
}

CodeSet all_but(const CodeSet& set) {
  CodeSet rest;
  unsigned from = 0;
  for (const auto& range : in_order(set)) {
    if (range.first > from) rest.push_back({from, range.first - 1});
    from = range.last + 1;
  }
  if (from <= utf8::last_code_point) rest.push_back({from, utf8::last_code_point});
  return rest;
}

void append(CodeSet& set, const CodeSet& more) { set.insert(set.end(), more.begin(), more.end()); }

struct NamedSet {
  std::string_view name;
  CodeSet set;
};

const std::vector<NamedSet>& posix_sets() {
  static const std::vector<NamedSet> sets = {
      {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
      {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
      {"ascii", {{0, 0x7f}}},
      {"blank", {{'\t', '\t'}, {' ', ' '}}},
      {"cntrl", {{0, 0x1f}, {0x7f, 0x7f}}},
      {"digit", {{'0', '9'}}},
      {"graph", {{'!', '~'}}},
      {"lower", {{'a', 'z'}}},
      {"print", {{' ', '~'}}},
      {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
      {"space", {{'\t', '\r'}, {' ', ' '}}},
      {"upper", {{'A', 'Z'}}},
      {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
      {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}},
  };
  return sets;
}

std::optional<CodeSet> perl_set(char letter) {
  switch (letter) {
    case 'd': return CodeSet{{'0', '9'}};
    case 'D': return all_but({{'0', '9'}});
    case 's': return CodeSet{{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
    case 'S': return all_but({{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}});
    case 'w': return CodeSet{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
    case 'W': return all_but({{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}});
    default: return std::nullopt;
  }
}

// Beyond ASCII the letters that are one but for their case are not known here.
std::optional<CodeSet> without_case(const CodeSet& set) {
  CodeSet folded = set;
  for (const auto& range : set) {
    if (range.last > 0x7f) return std::nullopt;
    for (unsigned code = range.first; code <= range.last; ++code) {
      const unsigned small = code | 0x20U;
      if (small < 'a' || small > 'z') continue;
      folded.push_back({code ^ 0x20U, code ^ 0x20U});
      if (small == 'k') folded.push_back({0x212a, 0x212a});  // the Kelvin sign
      if (small == 's') folded.push_back({0x17f, 0x17f});    // the long s
    }
  }
  return in_order(std::move(folded));
}

class Reader {
 public:
  explicit Reader(std::string_view pattern) : rest_(pattern) {}

  PartPtr run() {
    auto part = choice();
    return understood_ && rest_.empty() ? std::move(part) : nullptr;
  }

 private:
  PartPtr give_up() {
    understood_ = false;
    rest_ = {};
    return group(Part::Kind::sequence, {});
  }

  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  unsigned take_code() {
    const auto [code, length] = utf8::decode(rest_);
    rest_.remove_prefix(length);
    return code;
  }

  PartPtr choice() {
    if (++depth_ > deepest) return give_up();
    const bool outer_case = ignores_case_;
    Parts parts;
    do parts.push_back(sequence());
    while (take("|"));
    ignores_case_ = outer_case;  // a flag ends with the group it stands in
    --depth_;
    return group(Part::Kind::choice, std::move(parts));
  }

  PartPtr sequence() {
    Parts parts;
    while (!rest_.empty() && rest_[0] != '|' && rest_[0] != ')') {
      auto part = repeated(one());
      if (part) parts.push_back(std::move(part));
    }
    return group(Part::Kind::sequence, std::move(parts));
  }

  PartPtr repeated(PartPtr part) {
    while (part && understood_) {
      const auto times = take_times();
      if (!times) break;
      take("?");  // as few as possible: the same texts
      auto repeat = std::make_unique<Part>();
      repeat->kind = Part::Kind::repeat;
      repeat->parts.push_back(std::move(part));
      repeat->times = *times;
      part = std::move(repeat);
    }
    return part;
  }

  // Of braces {2}, {2,} and {2,5}; anything else after one is text.
  std::optional<Times> take_times() {
    if (take("*")) return Times{0, endless};
    if (take("+")) return Times{1, endless};
    if (take("?")) return Times{0, 1};
    const size_t end = rest_.find('}');
    if (!rest_.starts_with('{') || end == std::string_view::npos) return std::nullopt;
    const std::string_view body = rest_.substr(1, end - 1);
    const size_t comma = body.find(',');
    const auto first = number(body.substr(0, comma));
    const auto second = comma == std::string_view::npos ? first : number(body.substr(comma + 1));
    const bool open = comma != std::string_view::npos && comma + 1 == body.size();
    if (!first || (!second && !open)) return std::nullopt;
    rest_.remove_prefix(end + 1);
    return Times{*first, open ? endless : *second};
  }

  static std::optional<int> number(std::string_view digits) {
    if (digits.empty() || digits.size() > 4) return std::nullopt;
    int value = 0;
    for (char digit : digits) {
      if (digit < '0' || digit > '9') return std::nullopt;
      value = value * 10 + (digit - '0');
    }
    return value;
  }

  // nullptr: nothing that could be repeated, as flags are.
  PartPtr one() {
    using Kind = PatternNode::Kind;
    if (take("(?")) return flags();
    if (take("(")) return closed(choice());
    if (take("[")) return as_written(char_class());
    if (take("^")) return single(Kind::text_begin);
    if (take("$")) return single(Kind::text_end);
    if (take(".")) return single(Kind::take, {{0, utf8::last_code_point}});
    if (take("\\")) return escaped();
    const unsigned code = take_code();
    return one_of(CodeSet{{code, code}});
  }

  PartPtr closed(PartPtr part) { return take(")") ? std::move(part) : give_up(); }

  PartPtr flags() {
    if (take("P<") || take("<")) {
      const size_t end = rest_.find('>');
      if (end == std::string_view::npos) return give_up();
      rest_.remove_prefix(end + 1);
      return closed(choice());
    }
    const bool outer_case = ignores_case_;
    for (; !rest_.empty() && rest_[0] != ':' && rest_[0] != ')'; rest_.remove_prefix(1)) {
      if (rest_[0] == 'i') {
        ignores_case_ = true;
      } else if (rest_[0] != 's' && rest_[0] != 'U') {  // these two change nothing here
        return give_up();
      }
    }
    // Whatever repeats them repeats what stands before them.
    const bool repeated =
        rest_.size() > 1 && std::string_view("*+?{").find(rest_[1]) != std::string_view::npos;
    if (rest_.starts_with(')') && repeated) return give_up();
    if (take(")")) return nullptr;
    if (!take(":")) return give_up();
    auto part = closed(choice());
    ignores_case_ = outer_case;
    return part;
  }

  PartPtr escaped() {
    using Kind = PatternNode::Kind;
    if (take("A")) return single(Kind::text_begin);
    if (take("z")) return single(Kind::text_end);
    if (take("b")) return single(Kind::word_edge);
    // Not \B: RE2 looks at bytes, and finds it within a character too.
    return one_of(escaped_set());
  }

  PartPtr as_written(const std::optional<CodeSet>& set) {
    return set ? single(PatternNode::Kind::take, *set) : give_up();
  }

  PartPtr one_of(const std::optional<CodeSet>& set) {
    return as_written(set && ignores_case_ ? without_case(*set) : set);
  }

  // After the backslash: a set, or one character.
  std::optional<CodeSet> escaped_set() {
    if (rest_.empty()) return std::nullopt;
    if (auto set = perl_set(rest_[0])) {
      rest_.remove_prefix(1);
      return set;
    }
    const auto code = escaped_code();
    if (!code) return std::nullopt;
    return CodeSet{{*code, *code}};
  }

  std::optional<unsigned> escaped_code() {
    if (rest_.empty()) return std::nullopt;
    constexpr std::string_view letters = "afnrtv";
    constexpr std::string_view controls = "\a\f\n\r\t\v";
    const char first = rest_[0];
    if (take("x")) return hex_code();
    const size_t at = letters.find(first);
    const bool alphanumeric =
        (first >= '0' && first <= '9') || (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z');
    if (alphanumeric && at == std::string_view::npos) return std::nullopt;
    const unsigned code = take_code();
    return at == std::string_view::npos ? code : static_cast<unsigned>(controls[at]);
  }

  std::optional<unsigned> hex_code() {
    const bool braces = take("{");
    const size_t length = braces ? rest_.find('}') : 2;
    if (length == 0 || length > 6 || length > rest_.size()) return std::nullopt;
    unsigned code = 0;
    for (char digit : rest_.substr(0, length)) {
      constexpr std::string_view digits = "0123456789abcdef";
      const size_t value =
          digits.find(digit >= 'A' && digit <= 'F' ? static_cast<char>(digit | 0x20) : digit);
      if (value == std::string_view::npos) return std::nullopt;
      code = code << 4 | static_cast<unsigned>(value);
    }
    rest_.remove_prefix(length + (braces ? 1 : 0));
    return code <= utf8::last_code_point ? std::optional(code) : std::nullopt;
  }

  std::optional<CodeSet> char_class() {
    const bool negated = take("^");
    CodeSet set;
    for (bool first = true; first || !take("]"); first = false) {  // a ] that is first is a member
      if (rest_.empty() || !add_member(set)) return std::nullopt;
    }
    // Folded before it is turned around: what is not `a` is not `A` either.
    const auto members = ignores_case_ ? without_case(set) : set;
    if (!members) return std::nullopt;
    return negated ? all_but(*members) : in_order(*members);
  }

  bool add_member(CodeSet& set) {
    if (take("[:")) return add_named(set);
    if (rest_.size() > 1 && rest_[0] == '\\') {
      if (const auto perl = perl_set(rest_[1])) {
        rest_.remove_prefix(2);
        append(set, *perl);
        return true;
      }
    }
    const auto first = class_code();
    if (!first) return false;
    unsigned last = *first;
    if (rest_.size() > 1 && rest_[0] == '-' && rest_[1] != ']') {
      rest_.remove_prefix(1);
      const auto end = class_code();
      if (!end || *end < *first) return false;
      last = *end;
    }
    set.push_back({*first, last});
    return true;
  }

  bool add_named(CodeSet& set) {
    const bool negated = take("^");
    for (const auto& [name, members] : posix_sets()) {
      if (!rest_.starts_with(name) || !rest_.substr(name.size()).starts_with(":]")) continue;
      rest_.remove_prefix(name.size() + 2);
      append(set, negated ? all_but(members) : members);
      return true;
    }
    return false;
  }

  std::optional<unsigned> class_code() {
    if (rest_.empty()) return std::nullopt;
    if (take("\\")) return escaped_code();
    return take_code();
  }

  std::string_view rest_;
  int depth_ = 0;
  bool ignores_case_ = false;
  bool understood_ = true;
};

// Built from the end: every part is given the node that comes after it and gives back the one it begins with.
class Builder {
 public:
  std::optional<PatternLanguage> run(const Part& part) {
    const uint16_t accept = add({.kind = PatternNode::Kind::accept});
    language_.start = build(part, accept);
    if (too_large_) return std::nullopt;
    return std::move(language_);
  }

 private:
  uint16_t add(PatternNode node) {
    if (language_.nodes.size() >= most_nodes) {
      too_large_ = true;
      return 0;
    }
    language_.nodes.push_back(std::move(node));
    return static_cast<uint16_t>(language_.nodes.size() - 1);
  }

  uint16_t fork(uint16_t one, uint16_t other) {
    return add({.kind = PatternNode::Kind::fork, .next = one, .other = other});
  }

  uint16_t build(const Part& part, uint16_t next) {
    if (too_large_) return 0;
    switch (part.kind) {
      case Part::Kind::single: {
        PatternNode node = part.node;
        node.next = next;
        return add(std::move(node));
      }
      case Part::Kind::sequence:
        for (auto at = part.parts.rbegin(); at != part.parts.rend(); ++at) next = build(**at, next);
        return next;
      case Part::Kind::choice: {
        uint16_t begin = build(*part.parts.back(), next);
        for (auto at = part.parts.rbegin() + 1; at != part.parts.rend(); ++at)
          begin = fork(build(**at, next), begin);
        return begin;
      }
      case Part::Kind::repeat: return build_repeat(part, next);
    }
    return 0;
  }

  uint16_t build_repeat(const Part& part, uint16_t next) {
    const Part& body = *part.parts.front();
    uint16_t begin = next;
    if (part.times.most == endless) {
      begin = fork(next, next);
      const uint16_t once = build(body, begin);
      language_.nodes[begin].next = once;
    } else {
      for (int i = part.times.least; i < part.times.most && !too_large_; ++i)
        begin = fork(build(body, begin), next);
    }
    for (int i = 0; i < part.times.least && !too_large_; ++i) begin = build(body, begin);
    return begin;
  }

  PatternLanguage language_;
  bool too_large_ = false;
};

}  // namespace

std::optional<PatternLanguage> read_pattern(std::string_view pattern) {
  const PartPtr part = Reader(pattern).run();
  return part ? Builder().run(*part) : std::nullopt;
}

}  // namespace cloche
