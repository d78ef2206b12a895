// Which texts a pattern matches, in a form that can be compared: whether there is a text at all, and whether
// one pattern matches everything that another does. RE2 tells whether a text matches and nothing more, so
// this reads the patterns again, into an automaton. What it does not read it does not claim to know.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cloche {

struct CodeRange {
  unsigned first;
  unsigned last;
};
using CodeSet = std::vector<CodeRange>;  // in order, none touching the next

// One node of the automaton. Those that take no character are passed wherever what they ask for holds.
struct PatternNode {
  enum class Kind { take, fork, text_begin, text_end, word_edge, accept };
  Kind kind = Kind::accept;
  uint16_t next = 0;
  uint16_t other = 0;  // of a fork
  CodeSet set = {};    // of what takes a character
};

// Found anywhere in a text, as rules are; . is any character.
struct PatternLanguage {
  std::vector<PatternNode> nodes = {};
  uint16_t start = 0;
};

// `pattern` is one that RE2 has compiled. nullopt: it uses something that is not read here, or is too large.
std::optional<PatternLanguage> read_pattern(std::string_view pattern);

struct TextSearch {
  enum class Answer { found, none, unknown };
  Answer answer = Answer::unknown;
  std::string text = {};  // a shortest one, when found
};

// A text that each of `matching` matches and none of `failing`. `effort` is how many steps it may take and
// counts down; when it is spent the answer is unknown.
TextSearch find_text(std::span<const PatternLanguage* const> matching,
                     std::span<const PatternLanguage* const> failing, size_t& effort);

}  // namespace cloche
