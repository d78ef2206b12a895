// In what an entry of a view lies: in the root itself, in a tree of the host's, or in memory of its own.
#pragma once

#include "model/plan.hpp"

namespace cloche {

enum class Holder { root, host_tree, memory };

Holder holder_of(const ConfinementPlan& plan, const ViewEntry& entry);

}  // namespace cloche
