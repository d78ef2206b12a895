// `cloche test --replay RUN --policy FILE`: which past verdicts would change under other permission rules.
#pragma once

#include <string>

#include "base/sys/environment.hpp"

namespace cloche {

struct ReplayArguments {
  std::string run = {};
  std::string policy = {};
  bool json = false;

  bool operator==(const ReplayArguments&) const = default;
};

// Exit code 0 when none would, 1 when some would.
int replay_door(const ReplayArguments& arguments, const Environment& environment);

}  // namespace cloche
