#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace cloche::bench {
namespace {

Samples part_of(const Samples& samples, size_t block, size_t blocks) {
  const auto at = [&](size_t index) {
    return samples.begin() + static_cast<long>(samples.size() * index / blocks);
  };
  return {at(block), at(block + 1)};
}

double divide(double of, double to) { return to > 0 ? of / to : 0; }

Spread compare_medians(const Samples& of, const Samples& to, size_t blocks,
                       const std::function<double(double, double)>& compare) {
  Spread spread{compare(median(of), median(to)), 0, 0};
  spread.low = spread.high = spread.middle;
  if (std::min(of.size(), to.size()) < blocks) return spread;
  for (size_t block = 0; block < blocks; ++block) {
    const double one = compare(median(part_of(of, block, blocks)), median(part_of(to, block, blocks)));
    spread.low = std::min(spread.low, one);
    spread.high = std::max(spread.high, one);
  }
  return spread;
}

}  // namespace

double percentile(Samples samples, double share) {
  if (samples.empty()) return 0;
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(samples.size())));
  const size_t index = std::clamp<size_t>(rank, 1, samples.size()) - 1;
  std::nth_element(samples.begin(), samples.begin() + static_cast<long>(index), samples.end());
  return samples[index];
}

double median(const Samples& samples) { return percentile(samples, 0.5); }

Spread ratio_of_medians(const Samples& of, const Samples& to, size_t blocks) {
  return compare_medians(of, to, blocks, divide);
}

Spread difference_of_medians(const Samples& of, const Samples& to, size_t blocks) {
  return compare_medians(of, to, blocks, std::minus<double>());
}

Spread ratio_of_pairs(const Samples& of, const Samples& to) {
  Samples ratios;
  for (size_t i = 0; i < std::min(of.size(), to.size()); ++i) ratios.push_back(divide(of[i], to[i]));
  return {median(ratios), percentile(ratios, 0.25), percentile(ratios, 0.75)};
}

}  // namespace cloche::bench
