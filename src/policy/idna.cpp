#include "policy/idna.hpp"

#include <optional>

#include "base/ascii.hpp"
#include "base/shown.hpp"
#include "base/utf8.hpp"

namespace cloche {
namespace {

constexpr std::string_view prefix = "xn--";

constexpr std::string_view not_utf8 = "it is not UTF-8";
constexpr std::string_view beyond_the_table =
    "it holds a letter that is taken as punycode alone: write it as xn--...";
constexpr std::string_view mixed = "a label mixes scripts: write it as xn--... if it is meant";
constexpr std::string_view no_such_label = "it holds a label that is longer than 63 characters in punycode";
constexpr std::string_view no_punycode = "it holds an xn-- label that is no punycode";
constexpr std::string_view other_spelling =
    "it holds an xn-- label that is not the one spelling of its letters";
constexpr std::string_view unseen =
    "it holds an xn-- label with characters that nobody would see as what they are";

enum class Script { common, latin, greek, cyrillic, japanese, hangul };

enum class Fold {
  none,      // has no capitals, or these are the small letters
  add,       // every letter of the range is `by` below its small one
  pairs_up,  // capital, small, capital, small ... : the range begins with a capital
};

struct Letters {
  char32_t first;
  char32_t last;
  Script script;
  Fold fold = Fold::none;
  char32_t by = 0;
};

// In order. What lies between two ranges has no simple answer: multiplication and division sign, sharp s,
// dotted and dotless i, ligatures, letters with an apostrophe, long s, final sigma.
constexpr Letters known_letters[] = {
    {U'-', U'-', Script::common},
    {U'0', U'9', Script::common},
    {U'A', U'Z', Script::latin, Fold::add, 0x20},
    {U'a', U'z', Script::latin},
    {0xc0, 0xd6, Script::latin, Fold::add, 0x20},
    {0xd8, 0xde, Script::latin, Fold::add, 0x20},
    {0xe0, 0xf6, Script::latin},
    {0xf8, 0xff, Script::latin},
    {0x100, 0x12f, Script::latin, Fold::pairs_up},
    {0x134, 0x137, Script::latin, Fold::pairs_up},
    {0x139, 0x13e, Script::latin, Fold::pairs_up},
    {0x141, 0x148, Script::latin, Fold::pairs_up},
    {0x14a, 0x177, Script::latin, Fold::pairs_up},
    {0x179, 0x17e, Script::latin, Fold::pairs_up},
    {0x218, 0x21b, Script::latin, Fold::pairs_up},  // Romanian s and t with a comma
    {0x386, 0x386, Script::greek, Fold::add, 0x26},
    {0x388, 0x38a, Script::greek, Fold::add, 0x25},
    {0x38c, 0x38c, Script::greek, Fold::add, 0x40},
    {0x38e, 0x38f, Script::greek, Fold::add, 0x3f},
    {0x390, 0x390, Script::greek},
    {0x391, 0x3a1, Script::greek, Fold::add, 0x20},
    {0x3a3, 0x3ab, Script::greek, Fold::add, 0x20},
    {0x3ac, 0x3c1, Script::greek},
    {0x3c3, 0x3ce, Script::greek},
    {0x400, 0x40f, Script::cyrillic, Fold::add, 0x50},
    {0x410, 0x42f, Script::cyrillic, Fold::add, 0x20},
    {0x430, 0x45f, Script::cyrillic},
    {0x490, 0x491, Script::cyrillic, Fold::pairs_up},  // Ukrainian g with an upturn
    {0x3005, 0x3005, Script::japanese},                // repeats the character before it
    {0x3041, 0x3096, Script::japanese},
    {0x30a1, 0x30fa, Script::japanese},
    {0x30fc, 0x30fc, Script::japanese},  // lengthens a vowel
    {0x3400, 0x4dbf, Script::japanese},
    {0x4e00, 0x9fff, Script::japanese},
    {0xac00, 0xd7a3, Script::hangul},
};

const Letters* letters_with(char32_t point) {
  for (const Letters& range : known_letters)
    if (point >= range.first && point <= range.last) return &range;
  return nullptr;
}

char32_t folded(char32_t point, const Letters& range) {
  switch (range.fold) {
    case Fold::none: return point;
    case Fold::add: return point + range.by;
    case Fold::pairs_up: return point + ((point - range.first) % 2 == 0 ? 1 : 0);
  }
  return point;
}

// The folded letters of a label, or what is wrong with it.
std::string_view read_letters(std::string_view label, LabelPoints& out) {
  Script script = Script::common;
  while (!label.empty()) {
    if (utf8::sequence_length(label) == 0) return not_utf8;
    const auto [value, length] = utf8::decode(label);
    label.remove_prefix(length);
    const Letters* range = letters_with(value);
    if (range == nullptr) return beyond_the_table;
    if (range->script != Script::common) {
      if (script != Script::common && script != range->script) return mixed;
      script = range->script;
    }
    if (out.count == max_label) return no_such_label;
    out.points[out.count++] = folded(value, *range);
  }
  return {};
}

// What makes two names look like one, or one name like something else, when they are written out.
bool is_deceptive(char32_t point) {
  struct Range {
    char32_t first, last;
  };
  constexpr Range refused[] = {
      {0x80, 0xa0},        {0xd800, 0xdfff},  // controls, a space that does not break; no characters at all
      {0x1680, 0x1680},    {0x180b, 0x180f},  // a space of ogham, selectors of Mongolian
      {0x2000, 0x206f},                       // spaces, joiners, dashes, dots, turns of direction
      {0x2215, 0x2216},    {0x29f5, 0x29f9},  // slashes
      {0x3000, 0x3002},                       // a space, and a stop that is read as a dot
      {0xe000, 0xf8ff},    {0xfdd0, 0xfdef},  // private use; never characters
      {0xfe00, 0xfe0f},    {0xfe20, 0xfe6f},  // variation selectors; half marks and small forms
      {0xff00, 0xffff},                       // full and half width
      {0xe0000, 0x10ffff},                    // tags, selectors, private use
  };
  for (const Range& range : refused)
    if (point >= range.first && point <= range.last) return true;
  return (point & 0xfffe) == 0xfffe || is_control(point) || turns_text_around(point) || is_invisible(point);
}

bool is_folded(char32_t point) {
  const Letters* range = letters_with(point);
  return range == nullptr || folded(point, *range) == point;
}

}  // namespace

AceLabel ace_label(std::string_view label) {
  LabelPoints points;
  if (const auto problem = read_letters(label, points); !problem.empty()) return {.problem = problem};
  // Two hyphens there announce a spelling, and it would be one within another.
  if (points.count >= 4 && points.points[2] == U'-' && points.points[3] == U'-')
    return {.problem = other_spelling};
  const auto encoded = punycode_encode(points.view());
  AceLabel result;
  if (!encoded || !result.text.append(prefix) || !result.text.append(encoded->view()))
    return {.problem = no_such_label};
  return result;
}

std::string_view problem_of_ace(std::string_view label) {
  const std::string_view encoded = label.substr(prefix.size());
  const auto points = punycode_decode(encoded);
  if (!points) return no_punycode;
  bool beyond_ascii = false;
  for (const char32_t point : points->view()) {
    beyond_ascii = beyond_ascii || point >= 0x80;
    if (point >= 0x80 && is_deceptive(point)) return unseen;
    if (!is_folded(point)) return other_spelling;
  }
  const auto letters = points->view();
  if (!beyond_ascii || letters.front() == U'-' || letters.back() == U'-') return other_spelling;
  const auto again = punycode_encode(letters);
  if (!again || again->view() != encoded) return other_spelling;
  return {};
}

}  // namespace cloche
