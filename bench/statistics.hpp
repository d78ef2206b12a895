// What is said about a list of samples: ranks, medians, and ratios with how far they spread.
#pragma once

#include <cstddef>
#include <vector>

namespace cloche::bench {

using Samples = std::vector<double>;

// The smallest sample that at least `share` of all do not exceed. Zero when there are none.
double percentile(Samples samples, double share);
double median(const Samples& samples);

struct Spread {
  double middle = 0;
  double low = 0;
  double high = 0;

  Spread scaled(double by) const { return {middle * by, low * by, high * by}; }
};

// Of the medians; low and high are the least and greatest over consecutive blocks of the rounds.
Spread ratio_of_medians(const Samples& of, const Samples& to, size_t blocks = 5);
Spread difference_of_medians(const Samples& of, const Samples& to, size_t blocks = 5);

// Sample by sample, each with the other one of its round: the median of the ratios and their quartiles.
Spread ratio_of_pairs(const Samples& of, const Samples& to);

}  // namespace cloche::bench
