// The word that was probably meant where an unknown one was written.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cloche {

// How many letters have to be put in, taken out or replaced to make one word of the other; two that were
// exchanged count as one.
size_t edit_distance(std::string_view a, std::string_view b);

// Empty: none is near. Two short words are near each other by chance.
template <typename Words>
std::string_view near_word(std::string_view word, const Words& known) {
  constexpr size_t slips = 2, shortest_of_two_slips = 7;
  constexpr size_t longest = 64;  // what is longer was no slip, and would cost its square
  std::string_view nearest;
  if (word.size() > longest) return nearest;
  size_t least = slips + 1;
  for (const std::string_view one : known) {
    const size_t distance = edit_distance(word, one);
    if (distance >= least || 2 * distance >= one.size()) continue;
    if (distance == slips && one.size() < shortest_of_two_slips) continue;
    nearest = one;
    least = distance;
  }
  return nearest;
}

// "; did you mean run?", or nothing.
template <typename Words>
std::string did_you_mean(std::string_view word, const Words& known) {
  const std::string_view meant = near_word(word, known);
  return meant.empty() ? std::string() : "; did you mean " + std::string(meant) + "?";
}

}  // namespace cloche
