#include "policy/changes/ignore_pattern.hpp"

#include <algorithm>

#include "base/lists.hpp"
#include "base/text/ascii.hpp"

namespace cloche {
namespace {

constexpr size_t most_pattern = 4096;
constexpr std::string_view signs = "*?[\\";

// Blanks at the end go unless a backslash stands before them.
std::string_view without_trailing_spaces(std::string_view line) {
  size_t end = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const bool is_escaped = line[i] == '\\';
    if (is_escaped && ++i == line.size()) return line;
    if (is_escaped || line[i] != ' ') end = i + 1;
  }
  return line.substr(0, end);
}

// The characters of [:name:], as they are in the C locale.
std::optional<std::bitset<256>> named_class(std::string_view name) {
  struct Class {
    std::string_view name;
    bool (*holds)(char);
  };
  constexpr auto is_graph = [](char c) { return c > 0x20 && c < 0x7f; };
  static constexpr Class classes[] = {
      {"alnum", ascii::is_letter_or_digit},
      {"alpha", ascii::is_letter},
      {"blank", [](char c) { return c == ' ' || c == '\t'; }},
      {"cntrl", ascii::is_control},
      {"digit", ascii::is_digit},
      {"graph", is_graph},
      {"lower", [](char c) { return c >= 'a' && c <= 'z'; }},
      {"print", [](char c) { return c >= 0x20 && c < 0x7f; }},
      {"punct", [](char c) { return c > 0x20 && c < 0x7f && !ascii::is_letter_or_digit(c); }},
      {"space", [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }},
      {"upper", [](char c) { return c >= 'A' && c <= 'Z'; }},
      {"xdigit", ascii::is_hex},
  };
  const Class* found = find_by(classes, &Class::name, name);
  if (found == nullptr) return std::nullopt;
  std::bitset<256> set;
  for (unsigned c = 0; c < 0x80; ++c) set[c] = found->holds(static_cast<char>(c));
  return set;
}

// One character of a class, its backslash taken away.
std::optional<unsigned char> class_character(std::string_view& rest) {
  if (rest.starts_with('\\')) rest.remove_prefix(1);
  if (rest.empty()) return std::nullopt;
  const auto c = static_cast<unsigned char>(rest[0]);
  rest.remove_prefix(1);
  return c;
}

}  // namespace

std::optional<IgnorePattern> IgnorePattern::read(std::string_view line) {
  line = line.substr(0, line.find('\0'));
  if (line.starts_with('#')) return std::nullopt;
  line = without_trailing_spaces(line);
  if (line.empty() || line.size() > most_pattern) return std::nullopt;
  IgnorePattern pattern;
  pattern.brings_back_ = line.starts_with('!');
  if (pattern.brings_back_) line.remove_prefix(1);
  pattern.only_directories_ = line.ends_with('/');
  if (pattern.only_directories_) line.remove_suffix(1);
  pattern.name_alone_ = line.find('/') == std::string_view::npos;
  if (line.starts_with('/')) line.remove_prefix(1);
  if (!pattern.compile(line)) return std::nullopt;
  return pattern;
}

bool IgnorePattern::compile(std::string_view pattern) {
  const size_t plain = std::min(pattern.find_first_of(signs), pattern.size());
  prefix_ = pattern.substr(0, plain);
  pattern.remove_prefix(plain);
  // Git compares what is plain at the front by itself, and reads the rest as a pattern of its own: "a**/b" is
  // "a", then "**/b".
  for (std::string_view rest = pattern; !rest.empty();) {
    if (rest[0] == '*') {
      compile_stars(pattern, rest);
    } else if (!compile_one(rest)) {
      return false;
    }
  }
  return true;
}

bool IgnorePattern::compile_one(std::string_view& rest) {
  if (rest[0] == '[') return compile_class(rest);
  if (rest[0] == '?') {
    add_set(std::bitset<256>().set());
  } else {
    if (rest[0] == '\\') rest.remove_prefix(1);
    if (rest.empty()) return false;
    tokens_.push_back({.character = rest[0]});
  }
  rest.remove_prefix(1);
  return true;
}

// Two or more stars mean more than one only where they are a whole name of the path.
void IgnorePattern::compile_stars(std::string_view whole, std::string_view& rest) {
  const size_t start = whole.size() - rest.size();
  const size_t stars = std::min(rest.find_first_not_of('*'), rest.size());
  rest.remove_prefix(stars);
  const bool begins_name = start == 0 || whole[start - 1] == '/';
  if (stars < 2 || name_alone_ || !begins_name ||
      !(rest.empty() || rest[0] == '/' || rest.starts_with("\\/"))) {
    tokens_.push_back({.sign = Sign::within_name});
  } else if (rest.starts_with('/')) {
    tokens_.push_back({.sign = Sign::directories});
    rest.remove_prefix(1);
  } else {
    tokens_.push_back({.sign = Sign::anything});
  }
}

bool IgnorePattern::compile_class(std::string_view& rest) {
  rest.remove_prefix(1);
  const bool is_negated = rest.starts_with('!') || rest.starts_with('^');
  if (is_negated) rest.remove_prefix(1);
  std::bitset<256> set;
  for (bool is_first = true; is_first || !rest.starts_with(']'); is_first = false) {
    if (rest.empty()) return false;
    if (rest.starts_with("[:")) {
      const size_t close = rest.find(']', 2);
      if (close == std::string_view::npos) return false;
      if (close > 2 && rest[close - 1] == ':') {
        const auto named = named_class(rest.substr(2, close - 3));
        if (!named) return false;
        set |= *named;
        rest.remove_prefix(close + 1);
        continue;
      }
    }
    const auto low = class_character(rest);
    if (!low) return false;
    unsigned high = *low;
    if (rest.size() >= 2 && rest[0] == '-' && rest[1] != ']') {
      rest.remove_prefix(1);
      const auto end = class_character(rest);
      if (!end) return false;
      high = *end;
      // Git takes the first character by itself as well, also where the range is empty.
      set.set(*low);
    }
    for (unsigned c = *low; c <= high; ++c) set.set(c);
  }
  rest.remove_prefix(1);
  if (is_negated) set.flip();
  add_set(set);
  return true;
}

// A slash is in none: it only separates.
void IgnorePattern::add_set(const std::bitset<256>& set) {
  tokens_.push_back({.sign = Sign::one_of, .set = static_cast<uint16_t>(sets_.size())});
  sets_.push_back(set);
  sets_.back().reset('/');
}

bool IgnorePattern::takes(const Token& token, char c) const {
  return token.sign == Sign::character ? token.character == c
                                       : sets_[token.set][static_cast<unsigned char>(c)];
}

bool IgnorePattern::matches(std::string_view path, uint64_t& work) const {
  ++work;
  if (name_alone_) path.remove_prefix(path.rfind('/') + 1);  // npos + 1 is 0
  if (!path.starts_with(prefix_)) return false;
  path.remove_prefix(prefix_.size());
  return tokens_.empty() ? path.empty() : run(path, work);
}

// All ways through the pattern at once, character by character: no pattern makes it try them one by one.
bool IgnorePattern::run(std::string_view text, uint64_t& work) const {
  std::vector<bool> now(tokens_.size() + 1, false);
  std::vector<bool> next(tokens_.size() + 1, false);
  const auto enter = [&](std::vector<bool>& states, size_t i) {
    states[i] = true;
    while (i < tokens_.size() && tokens_[i].sign != Sign::character && tokens_[i].sign != Sign::one_of)
      states[++i] = true;
  };
  enter(now, 0);
  for (const char c : text) {
    work += tokens_.size();
    std::fill(next.begin(), next.end(), false);
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (!now[i]) continue;
      switch (tokens_[i].sign) {
        case Sign::character:
        case Sign::one_of:
          if (takes(tokens_[i], c)) enter(next, i + 1);
          break;
        case Sign::within_name:
          if (c != '/') enter(next, i);
          break;
        case Sign::anything: enter(next, i); break;
        case Sign::directories:
          next[i] = true;  // and not what follows, which begins behind a slash
          if (c == '/') enter(next, i + 1);
          break;
      }
    }
    std::swap(now, next);
    if (std::ranges::none_of(now, [](bool state) { return state; })) return false;
  }
  return now.back();
}

}  // namespace cloche
