// A plan as the words of bubblewrap. It builds the box: namespaces, the mount view, ids, the environment.
// Everything else is said to `cloche-jail --inner`, the command that it starts: bubblewrap has no filter of
// its own, no Landlock and no limits, and keeps descriptors open. Pure.
#pragma once

#include <string>
#include <vector>

#include "confine/box_parts.hpp"
#include "model/layers.hpp"
#include "model/plan.hpp"

namespace cloche {

// Everything after "bwrap". Whoever starts it should give these words by --args: a command line, and with it
// the values of variables, can be read by every user of the host.
std::vector<std::string> bwrap_arguments(const ConfinementPlan& plan, const BoxParts& parts);

// What the plan requires and neither bubblewrap nor --inner can keep. `counted` says whether whoever starts
// it counts the memory of the whole call, by a cgroup or by watching.
enum class Counted { by_nobody, by_us };
std::vector<MissingLayer> bwrap_missing(const ConfinementPlan& plan, const BoxParts& parts, Counted counted);

}  // namespace cloche
