// The one look at the world that a decision rests on, with what was looked at held open: what stands at a
// name later is something else.
#pragma once

#include <vector>

#include "base/sys/fd.hpp"
#include "model/facts.hpp"

namespace cloche {

struct Observation {
  Facts facts = {};
  std::vector<OwnedFd> held = {};  // the workspace first

  int workspace() const { return held.empty() ? -1 : held.front().get(); }
};

}  // namespace cloche
