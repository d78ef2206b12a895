// `cloche test --replay RUN --policy FILE`: which past verdicts would change under other permission rules.
#pragma once

#include <span>

#include "base/environment.hpp"

namespace cloche {

// Exit code 0 when none would, 1 when some would.
int replay_door(std::span<char* const> words, const Environment& environment);

}  // namespace cloche
