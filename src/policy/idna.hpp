// Labels with letters beyond ASCII, as a person writes them, to the one spelling that DNS has for them
// ("xn--..."). Real IDNA maps characters by tables of a megabyte. This takes what needs none of them and
// refuses the rest with a sentence; who needs more writes the punycode, which is what is kept and shown in
// any case.
//
// Taken: Latin, Greek, Cyrillic, Han, kana and Hangul letters that are composed and in one script a label
// (Japanese is one; digits and hyphens go with each; letters of ASCII only with Latin). Capitals are folded
// where the folded letter is one rule away. Refused: mixed scripts, what is read right to left, combining
// marks, joiners and everything invisible, full and half width forms, other dots, and letters that two
// standards read differently (sharp s, final sigma, dotless i).
#pragma once

#include <string_view>

#include "policy/punycode.hpp"

namespace cloche {

struct AceLabel {
  LabelText text = {};
  std::string_view problem = {};  // empty: `text` is the label
};

// `label` is UTF-8 (or not: then it is refused) without dots, and holds a byte beyond ASCII.
AceLabel ace_label(std::string_view label);

// What is wrong with a lower-case label that begins with "xn--"; empty: it is the one spelling of what it
// says, and that holds nothing which nobody would see.
std::string_view problem_of_ace(std::string_view label);

}  // namespace cloche
