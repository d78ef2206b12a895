// One limit as it was written down.
#pragma once

#include "model/limits.hpp"

namespace cloche {

struct LimitWord {
  LimitId id = LimitId::wall;
  uint64_t value = 0;
  int line = 0;
};

}  // namespace cloche
