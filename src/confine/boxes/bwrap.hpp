// A plan as the words of bubblewrap. It builds the box: namespaces, the mount view, ids, the environment.
// Everything else is said to `cloche-jail --inner`, the command that it starts: bubblewrap has no filter of
// its own, no Landlock and no limits, and keeps descriptors open. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "confine/boxes/box_parts.hpp"
#include "model/layers.hpp"
#include "model/plan.hpp"

namespace cloche {

// Everything after "bwrap". Give these words by --args: a command line, and with it
// the values of variables, can be read by every user of the host.
std::vector<std::string> bwrap_arguments(const ConfinementPlan& plan, const BoxParts& parts);

// It takes no more words than this, its own name, those by --args and the command's own together.
inline constexpr size_t most_bwrap_words = 9000;
// A command that is too long for it.
Result<void> check_bwrap_words(const std::vector<std::string>& words);

// What the plan requires and neither bubblewrap nor --inner can keep. `counted` says whether the program that
// starts it counts the memory of the whole call, by a cgroup or by watching.
enum class Counted { by_none, by_us };
std::vector<MissingLayer> bwrap_missing(const ConfinementPlan& plan, const BoxParts& parts, Counted counted);

}  // namespace cloche
