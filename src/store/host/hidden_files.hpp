// What of the trees that a call is shown the operator's patterns (`hide`) match. A look that cannot be
// complete is an Error: no call runs with a file in sight that was to be hidden.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/facts.hpp"

namespace cloche {

struct HiddenLimits {
  uint64_t entries = 200'000;  // looked at, in all trees together
  uint64_t milliseconds = 5000;
  size_t found = 128;      // each is a mount of its own
  std::string apart = {};  // a directory that no call sees whatever was granted: it is not searched
};

// `trees` as they were judged; one that is no directory has nothing in it.
Result<HideFacts> find_hidden(const std::vector<std::string>& patterns, const std::vector<FileFact>& trees,
                              const HiddenLimits& limits = {});

}  // namespace cloche
